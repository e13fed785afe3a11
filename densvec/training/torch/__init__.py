"""The torch backend: the same step as the native kernel's, in torch, on any device."""
