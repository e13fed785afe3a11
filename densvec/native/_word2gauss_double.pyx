include "_word2gauss.pyx"  # with double for REAL: see setup.py
