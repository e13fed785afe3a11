"""What KeyedDensities can be asked: one module for each kind of question."""
