"""The staff desk over HTTP."""
