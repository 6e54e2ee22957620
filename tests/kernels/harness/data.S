/* data.S, for trampolines: memory of a trampoline that C sees by name. */
        .macro  data name, bytes
        .globl  \name
        .hidden \name
        .type   \name, @object
        .size   \name, \bytes
\name:  .skip   \bytes
        .endm
