"""A known matrix over GF(2^8) as a circuit of additions and multiplications by constants.

`network.py` defines circuits. `dense.py`, `factored.py` and `schedule.py` construct them, `order.py` orders
their steps, and `choice.py` selects the cheapest.
"""
