"""What densvec answers: one document for each question, the same on the command line and over HTTP.

A function takes the model and one question, or several that are answered together, and returns a dataclass. Its
fields are the JSON that both print and the service's schema, `table` makes rows of it, and `str` what people read.
"""
