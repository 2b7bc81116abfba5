"""A multilingual FAQ assistant: grounded answers in the asker's language, or an honest "the articles do not say"."""

import os

# Read when NumPy is first imported. The matrices here are small: a second BLAS thread costs more than it brings
# (rescoring a question took 6.6 ms with two threads and 3.3 ms with one, on two busy cores).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
