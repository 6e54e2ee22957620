#include "batch.h"

/* What learning from a batch takes is between batches, too. */
enum { LEARNING_NS = 500 };

enum { REST_NS = 500000, REST_TIMES = 16 };

void gfs_batch_begin(gfs_batch *batch, uint64_t now_ns, size_t bytes) {
  uint64_t between = now_ns - batch->end_ns;
  bool close = batch->end_ns != 0 && between <= 2 * batch->call_ns + LEARNING_NS;
  batch->wanted = close ? (unsigned)((GFS_BATCH_BYTES + bytes - 1) / bytes) : 1;
  batch->begin_ns = now_ns;
}

unsigned gfs_batch_end(gfs_batch *batch, uint64_t now_ns) {
  unsigned calls = batch->calls;
  batch->call_ns = (now_ns - batch->begin_ns) / calls;
  batch->end_ns = now_ns;
  batch->calls = 0;
  return calls;
}

uint32_t gfs_batch_rest(const gfs_batch *batch, uint32_t sample) {
  uint64_t enough = REST_NS / (batch->call_ns + 1), most = (uint64_t)sample * REST_TIMES;
  enough = enough < most ? enough : most;
  return enough > sample ? (uint32_t)enough : sample;
}
