/* Pipelined kernels in plain C, for the instruction set `scalar`: they follow the calling rule of
 * GFSMITH_ADAPTIVE, and tell a test what they visit and ask for. */
#ifndef STAND_IN_KERNELS_H
#define STAND_IN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef void stand_in_seen(unsigned source, const uint8_t *line, const uint8_t *asked);

/* Called for every visit of a main loop, if it is not NULL. */
extern stand_in_seen *stand_in_watcher;

#define STAND_IN(walk, shuffled, lines, outputs, store)                                            \
  stand_in_##walk##_##shuffled##_##lines##_##outputs##_##store

#define STAND_IN_KERNELS(OF)                                                                       \
  STAND_IN_OUTPUTS(OF, rows, 0, 1)                                                                 \
  STAND_IN_OUTPUTS(OF, rows, 0, 4)                                                                 \
  STAND_IN_OUTPUTS(OF, together, 0, 4)                                                             \
  STAND_IN_OUTPUTS(OF, together, 1, 4)                                                             \
  STAND_IN_OUTPUTS(OF, rows, 1, 8)

#define STAND_IN_OUTPUTS(OF, walk, shuffled, lines)                                                \
  STAND_IN_STORES(OF, walk, shuffled, lines, 1)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 2)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 3)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 4)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 5)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 6)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 7)                                                    \
  STAND_IN_STORES(OF, walk, shuffled, lines, 8)

#define STAND_IN_STORES(OF, walk, shuffled, lines, outputs)                                        \
  OF(walk, shuffled, lines, outputs, temporal)                                                     \
  OF(walk, shuffled, lines, outputs, streaming)

#define STAND_IN_PROTOTYPE(walk, shuffled, lines, outputs, store)                                  \
  void STAND_IN(walk, shuffled, lines, outputs,                                                    \
                store)(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,     \
                       uint8_t *const *dst);
STAND_IN_KERNELS(STAND_IN_PROTOTYPE)

#endif
