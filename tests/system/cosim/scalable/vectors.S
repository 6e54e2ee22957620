/* vectors.S: macros that load and store the scalable vectors and predicates of struct state, each in
 * a place of the greatest size. They change `base`. */
    .arch armv8-a+sve
    .macro all instruction, base
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \instruction z\number, [\base]
    add \base, \base, #256
    .endr
    .irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction z\number, [\base]
    add \base, \base, #256
    .endr
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \instruction p\number, [\base]
    add \base, \base, #32
    .endr
    .endm
    .macro load_vectors base
    all ldr, \base
    .endm
    .macro store_vectors base
    all str, \base
    .endm
