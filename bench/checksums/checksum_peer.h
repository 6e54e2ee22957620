/* checksum_peer.h: the interface of libraries that compute checksums alone: functions
 * sum_NAME(check, buffers), whose loop is in the library's language. */
#ifndef BENCH_CHECKSUM_PEER_H
#define BENCH_CHECKSUM_PEER_H

#include <stddef.h>
#include <stdint.h>

/* Buffer n is the len bytes at base + n pitch. The buffers of a call are order[0..count). */
typedef struct checksum_buffers {
  const uint8_t *base;
  const uint32_t *order;
  size_t count, len, pitch;
} checksum_buffers;

/* The sum (XOR) of the checksums of all buffers. check: a number of enum gfsmith_checksum. */
typedef uint64_t checksum_sum_fn(unsigned check, const checksum_buffers *buffers);

#endif
