"""The version of this package, which is that of the driver in it."""

__version__ = "0.1.0"
