"""Proofs from files: foreign functions, compiled objects, and the .S files of an output folder."""
