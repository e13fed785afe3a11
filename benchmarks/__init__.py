"""Benchmarks that print tables; run them as modules."""
