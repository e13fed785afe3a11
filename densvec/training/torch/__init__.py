"""The torch backend: the same step in readable torch, on any device."""
