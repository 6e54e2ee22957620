/* The contenders that are part of the driver. */
#ifndef BENCH_CONTENDERS_H
#define BENCH_CONTENDERS_H

#include "peer.h"

/* gfsmith; the variant is an instruction set and a suffix that gfsmith.c defines. */
extern const peer_api gfsmith_contender;
/* 1 if a gfsmith contender was opened by the code's name, 0 if by its matrix. */
int gfsmith_contender_named(const void *peer);

/* Reads and writes the same bytes without arithmetic: variants "plain", "prefetch", "stream". */
extern const peer_api limit_contender;

/* The measured functions of gfsmith_algebra.h, by the names of their variants. */
#define ALGEBRA_FUNCTIONS(ROW)                                                                     \
  ROW(multiply)                                                                                    \
  ROW(invert)                                                                                      \
  ROW(polynomials8) ROW(polynomials16) ROW(polynomials32) ROW(matrices8) ROW(matrices64)
#define ALGEBRA_ROW(name) {#name, name},

/* The functions of gfsmith_algebra.h: variants of a set and a function. */
extern const peer_api algebra_contender;

/* The same functions with AVX2 and without GFNI: a variant is a function. */
extern const peer_api legacy_contender;

/* PROBE_OPERATIONS independent instructions per "stripe": variants "affine512" and so on. */
enum { PROBE_OPERATIONS = 2048 };
extern const peer_api probe_contender;

#endif
