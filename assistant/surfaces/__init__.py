"""The surfaces: they render what the pipeline says, and add no facts of their own."""
