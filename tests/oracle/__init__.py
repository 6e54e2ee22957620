"""Oracles: results computed from definitions, without the code under test."""
