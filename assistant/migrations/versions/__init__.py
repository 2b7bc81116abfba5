"""One file a change of the schema, each naming the one before it."""
