"""The second judge: it replays the certificates of the machine-code proofs of x86 kernels, without a search.

It imports the standard library and capstone only, and nothing from gfsmith (docs/judge.md). In the order of
imports:

    integers.py    integers with unknowns, and bounds of them
    forms.py       bytes of vectors: constant ^ the sum of T(M x)
    spec.py        the result that a kernel must have
    memory.py      the machine on one path: registers, frame, destinations
    decode.py      instructions from capstone: form, operands, regular encodings
    semantics.py   the table of the forms that may occur, and their effects
    branch.py      the direction of a branch
    contract.py    the state on entry, and the conditions at return
    invariant.py   the state at any iteration of a loop
    replay.py      the walk along a certificate
    listing.py     the machine code in a .S file
    __main__.py    all kernels, on all cores
"""
