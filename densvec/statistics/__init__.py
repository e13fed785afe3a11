"""Clusters, robust estimates and the bootstrap."""
