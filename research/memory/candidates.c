/* The coordinator's candidates (runtime/adaptive/src/candidates.c) for the model: a call of k
 * sources and m outputs by `threads` threads, with every existing kernel and no counters. */
#include <string.h>

#include "candidates.h"

static gfs_workload workload(gfs_device *device, unsigned k, unsigned m, unsigned threads,
                             unsigned line, unsigned buffer) {
  gfs_device_defaults(device);
  device->line = line;
  device->buffer = buffer;
  gfs_workload s = {.k = k, .m = m, .threads = threads, .device = device};
  memset(s.have, true, sizeof s.have);
  return s;
}

/* The longest distance of a policy, given as text; 0 also for text that is not a policy. */
unsigned mm_furthest(unsigned k, unsigned m, unsigned threads, unsigned line, unsigned buffer,
                     const char *text) {
  gfs_device device;
  gfs_policy policy;
  gfs_workload s = workload(&device, k, m, threads, line, buffer);
  return gfs_policy_read(text, &policy) ? gfs_distance_furthest(&s, policy.walk, true) : 0;
}

/* Writes the policies as text, a line each, and returns their number; 0: the buffer is too small.
 * */
unsigned mm_candidates(unsigned k, unsigned m, size_t length, unsigned threads, unsigned line,
                       unsigned buffer, char *text, size_t size) {
  gfsmith_adaptive_options options;
  gfs_device device;
  gfs_candidate candidate[GFS_CANDIDATES_MAX];
  gfsmith_adaptive_defaults(&options);
  gfs_workload s = workload(&device, k, m, threads, line, buffer);
  s.len = length;
  unsigned count = gfs_candidates_write(&s, &options, candidate);
  size_t used = 0;
  for (unsigned n = 0; n < count; n++) {
    if (used >= size)
      return 0;
    used += gfs_policy_text(candidate[n].policy, text + used, size - used);
    if (used + 1 >= size)
      return 0;
    text[used++] = '\n';
  }
  text[used] = '\0';
  return count;
}
