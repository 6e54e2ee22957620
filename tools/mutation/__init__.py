"""The mutation campaign: modules shared by tools/mutate.py and tests/unit/prove/test_mutants.py."""
