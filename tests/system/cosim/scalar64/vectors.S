/* vectors.S: macros that load and store the vectors of struct state. */
    .arch armv8-a
    .macro vectors instruction, base
    \instruction q0, q1, [\base]
    \instruction q2, q3, [\base, #32]
    \instruction q4, q5, [\base, #64]
    \instruction q6, q7, [\base, #96]
    \instruction q8, q9, [\base, #128]
    \instruction q10, q11, [\base, #160]
    \instruction q12, q13, [\base, #192]
    \instruction q14, q15, [\base, #224]
    \instruction q16, q17, [\base, #256]
    \instruction q18, q19, [\base, #288]
    \instruction q20, q21, [\base, #320]
    \instruction q22, q23, [\base, #352]
    \instruction q24, q25, [\base, #384]
    \instruction q26, q27, [\base, #416]
    \instruction q28, q29, [\base, #448]
    \instruction q30, q31, [\base, #480]
    .endm
    .macro load_vectors base
    vectors ldp, \base
    .endm
    .macro store_vectors base
    vectors stp, \base
    .endm
