include "_bsg.pyx"  # with double for REAL: see setup.py
