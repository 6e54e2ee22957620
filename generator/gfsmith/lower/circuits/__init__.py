"""A known matrix over GF(2^8) as a circuit of additions and multiplications by constants.

`network.py` defines circuits. `dense.py`, `factored.py` and `schedule.py` construct them, `distribute.py`
divides products of sums, `order.py` orders the steps, and `choice.py` selects the cheapest circuit.
"""
