"""Graphs of distributed encodings and repairs: the computations of each node and the transfers between
nodes."""
