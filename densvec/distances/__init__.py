"""Divergences between Gaussians as distances to the rows of a table."""
