"""Counting, encoding and sampling."""
