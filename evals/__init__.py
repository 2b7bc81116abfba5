"""Measures the assistant: cases over the corpus, learning of the calibration, speed against the tutorial stack."""
