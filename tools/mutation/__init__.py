"""The mutation campaign: what tools/mutate.py and tests/prove/test_mutants.py share."""
