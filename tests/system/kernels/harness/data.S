/* data.S, for trampolines: defines trampoline memory under names that C can use. */
        .macro  data name, bytes
        .globl  \name
        .hidden \name
        .type   \name, @object
        .size   \name, \bytes
\name:  .skip   \bytes
        .endm
