/* gfsmith with its own kernels as a shared object, beside another gfsmith in the driver. */
#include "../driver/contenders.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED peer_open_fn peer_open;
EXPORTED peer_run_fn peer_run;
EXPORTED peer_close_fn peer_close;

const char *peer_open(void **out, const bench_spec *spec) {
  return gfsmith_contender.open(out, spec);
}

void peer_run(void *peer, const bench_job *job) { gfsmith_contender.run(peer, job); }

void peer_close(void *peer) { gfsmith_contender.close(peer); }
