/* The interface between the driver and a peer library: functions that open a peer and run a job.
 *
 * A peer is a shared object with peer_open, peer_run and peer_close. It gets its work as a batch,
 * so that a peer in another language is entered once per sample and not once per stripe.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_MAX_SHARDS = 255 };

/* One code and shape for a peer to prepare. matrix: m rows of k elements, over 0x11d; NULL: none.
 * */
typedef struct bench_spec {
  const char *variant;
  const char *code;
  const uint8_t *matrix;
  unsigned k, m;
  size_t len;
} bench_spec;

/* Encode `count` stripes. Shard i of stripe s is the len bytes at base + (s (k+m) + i) pitch, data
 * first. The stripes are order[0..count), or stripe 0 each time if order is NULL. */
typedef struct bench_job {
  uint8_t *base;
  const uint32_t *order;
  size_t count;
  size_t len;
  size_t pitch;
  unsigned k, m;
} bench_job;

/* NULL, or the reason in one line why this peer cannot do it. The text is static. */
typedef const char *peer_open_fn(void **out, const bench_spec *spec);
typedef void peer_run_fn(void *peer, const bench_job *job);
typedef void peer_close_fn(void *peer);

/* Rebuild the data shards of stripe 0 whose flags in `present`, k + m of them, are 0. Only peers of
 * codes with more than 255 shards have it (bench.wide). */
typedef void peer_repair_fn(void *peer, const bench_job *job, const uint8_t *present);

/* The same once (present NULL: encode), and write the results to the job's shards. Only peers that
 * otherwise leave them in memory of their own have it. */
typedef void peer_results_fn(void *peer, const bench_job *job, const uint8_t *present);

/* Write the checksums of the k + m shards of the last stripe. Only variants that compute them have
 * it (bench.checksums). */
typedef void peer_sums_fn(void *peer, uint64_t *sums);

typedef struct peer_api {
  peer_open_fn *open;
  peer_run_fn *run;
  peer_close_fn *close;
} peer_api;

/* Set pointers to the k + m shards of the n-th stripe of a job. */
static inline void bench_point(const bench_job *job, size_t n, uint8_t **shard) {
  size_t stripe = job->order != NULL ? job->order[n] : 0;
  uint8_t *at = job->base + stripe * (job->k + job->m) * job->pitch;
  for (unsigned i = 0; i < job->k + job->m; i++, at += job->pitch)
    shard[i] = at;
}

#endif
