"""Erasure-coding graphs: which node computes which part of an encoding or a repair, and sends it where."""
