"""A known matrix over GF(2^8) as a circuit of additions and multiplications by constants.

`network.py` is what a circuit is, `dense.py` and `factored.py` make them, `cauchy.py` finds the points of a
matrix that can be factored, `choice.py` says which is cheapest.
"""
