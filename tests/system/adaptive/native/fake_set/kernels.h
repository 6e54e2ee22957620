/* Pipelined kernels in plain C, for the instruction set `scalar`: they follow the calling rule of
 * GFSMITH_PIPELINED, and report to a test the lines that they visit and prefetch. */
#ifndef FAKE_SET_KERNELS_H
#define FAKE_SET_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef void fake_set_seen(unsigned source, const uint8_t *line, const uint8_t *asked);

/* Called for every visit of a main loop, if it is not NULL. */
extern fake_set_seen *fake_set_watcher;

#define FAKE_SET(walk, shuffled, lines, outputs, store)                                            \
  fake_set_##walk##_##shuffled##_##lines##_##outputs##_##store

#define FAKE_SET_KERNELS(OF)                                                                       \
  FAKE_SET_OUTPUTS(OF, rows, 0, 1)                                                                 \
  FAKE_SET_OUTPUTS(OF, rows, 0, 4)                                                                 \
  FAKE_SET_OUTPUTS(OF, together, 0, 4)                                                             \
  FAKE_SET_OUTPUTS(OF, together, 1, 4)                                                             \
  FAKE_SET_OUTPUTS(OF, rows, 1, 8)

#define FAKE_SET_OUTPUTS(OF, walk, shuffled, lines)                                                \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 1)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 2)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 3)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 4)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 5)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 6)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 7)                                                    \
  FAKE_SET_STORES(OF, walk, shuffled, lines, 8)

#define FAKE_SET_STORES(OF, walk, shuffled, lines, outputs)                                        \
  OF(walk, shuffled, lines, outputs, temporal)                                                     \
  OF(walk, shuffled, lines, outputs, streaming)

#define FAKE_SET_PROTOTYPE(walk, shuffled, lines, outputs, store)                                  \
  void FAKE_SET(walk, shuffled, lines, outputs,                                                    \
                store)(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,     \
                       uint8_t *const *dst);
FAKE_SET_KERNELS(FAKE_SET_PROTOTYPE)

#endif
