include "_skipgram.pyx"  # with double for REAL: see setup.py
