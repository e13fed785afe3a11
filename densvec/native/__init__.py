"""The compiled training kernels, one for each model, and the scan that scores a whole table."""
