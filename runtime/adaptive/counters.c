#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sysconf */
#endif
#include <stdio.h>
#include <string.h>

#include "counters.h"

bool gfs_counters_open(gfs_counters *counters, char *why, size_t size) {
  return gfs_counters_open_on(counters, gfs_counters_kernel, why, size);
}

#if !defined(GFS_SEES_COUNTERS)

bool gfs_counters_open_on(gfs_counters *counters, const gfs_counters_system *system, char *why,
                          size_t size) {
  (void)system;
  memset(counters, 0, sizeof *counters);
  snprintf(why, size, "perf_event_open: this library was built without it");
  return false;
}

bool gfs_counters_read(gfs_counters *counters, double *latency_ns, double *useless_per_byte) {
  (void)counters, (void)latency_ns, (void)useless_per_byte;
  return false;
}

void gfs_counters_close(gfs_counters *counters) { (void)counters; }

#else

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

/* Records of one processor: perf's ring buffer, PAGES of them behind the page that controls it. 4
 * KiB hold what 170 samples take, and all the pages together stay below what perf_event_mlock_kb
 * leaves to any user. */
typedef struct gfs_counters_ring {
  int beside, loads; /* descriptors; beside: -1 where nothing has to lead */
  struct perf_event_mmap_page *page;
  double nanoseconds; /* a tick of the reference clock */
} gfs_counters_ring;

enum { RING_PAGES = 4, IBS_FILTER = 1 };

/* Loads that took fewer cycles were answered by a cache, so they need not be sampled. */
#define LEAST_CYCLES 64u

static size_t ring_size(void) { return (size_t)sysconf(_SC_PAGESIZE) * (RING_PAGES + 1); }

/* ---- opening ---- */

/* An event of user code, of this thread and those it will start. */
static struct perf_event_attr event(uint32_t type, uint64_t config) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.inherit = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return attr;
}

static struct perf_event_attr sampled(const gfs_counters_core *core, int ibs_type) {
  struct perf_event_attr attr = event(PERF_TYPE_RAW, core->loads);
  if (core->samples == GFS_SAMPLES_IBS) {
    attr.type = (uint32_t)ibs_type;
    attr.config2 = IBS_FILTER; /* the kernel, not the CPU, leaves out what is not user code */
  } else {
    attr.config1 = LEAST_CYCLES;
    attr.precise_ip = 2;
  }
  attr.freq = 1;
  attr.sample_freq = GFS_COUNTERS_HERTZ;
  attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
  return attr;
}

/* Nanoseconds a tick of the time-stamp counter, which is the reference clock; 0 if it is not
 * steady. */
static double tick(const struct perf_event_mmap_page *page) {
  const volatile struct perf_event_mmap_page *shared = page;
  uint32_t lock, mult;
  uint16_t shift;
  bool steady;
  do {
    lock = __atomic_load_n(&shared->lock, __ATOMIC_ACQUIRE);
    mult = shared->time_mult;
    shift = shared->time_shift;
    steady = shared->cap_user_time;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (__atomic_load_n(&shared->lock, __ATOMIC_RELAXED) != lock);
  return steady && shift < 64 ? (double)mult / (double)(UINT64_C(1) << shift) : 0;
}

/* False: nothing of it is left open, and errno says why. */
static bool open_ring(gfs_counters_ring *ring, const gfs_counters *counters, int processor,
                      int ibs_type, const char **call) {
  const gfs_counters_system *system = counters->system;
  *call = "perf_event_open";
  *ring = (gfs_counters_ring){.beside = -1};
  if (counters->core->beside != 0) {
    struct perf_event_attr beside = event(PERF_TYPE_RAW, counters->core->beside);
    ring->beside = system->open(&beside, processor, -1);
    if (ring->beside < 0)
      return false;
  }
  struct perf_event_attr loads = sampled(counters->core, ibs_type);
  ring->loads = system->open(&loads, processor, ring->beside);
  int error = errno;
  if (ring->loads >= 0) {
    ring->page = system->map(ring->loads, ring_size());
    if (ring->page != NULL) {
      ring->nanoseconds = tick(ring->page);
      return true;
    }
    error = errno;
    *call = "perf_event_open: mmap";
    system->close(ring->loads);
  }
  if (ring->beside >= 0)
    system->close(ring->beside);
  errno = error;
  return false;
}

/* Those of all processors that are there. */
static bool open_rings(gfs_counters *counters, char *why, size_t size) {
  const gfs_counters_system *system = counters->system;
  const char *call = "perf_event_open";
  int ibs_type = counters->core->samples == GFS_SAMPLES_IBS ? system->ibs_type() : 0;
  int processors = system->processors();
  if (ibs_type < 0) {
    snprintf(why, size, "this machine shows no IBS, as most virtual ones");
    return false;
  }
  counters->rings = calloc(processors > 0 ? (size_t)processors : 1, sizeof *counters->rings);
  if (counters->rings == NULL) {
    snprintf(why, size, "no memory");
    return false;
  }
  for (int processor = 0; processor < processors; processor++) {
    if (open_ring(&counters->rings[counters->count], counters, processor, ibs_type, &call))
      counters->count++;
    else if (errno != ENODEV) {
      gfs_counters_explain(why, size, call, errno);
      return false;
    }
  }
  if (counters->count == 0) {
    gfs_counters_explain(why, size, call, ENODEV);
    return false;
  }
  for (int n = 0; n < counters->count; n++)
    if (!(counters->rings[n].nanoseconds > 0)) {
      snprintf(why, size, "the time-stamp counter is not steady, so that cycles are no time");
      return false;
    }
  return true;
}

static bool open_count(const gfs_counters_system *system, gfs_counters_count *count, uint32_t type,
                       uint64_t config) {
  struct perf_event_attr attr = event(type, config);
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  count->descriptor = system->open(&attr, -1, -1);
  return count->descriptor >= 0;
}

static bool open_counts(gfs_counters *counters) {
  const gfs_counters_system *system = counters->system;
  const gfs_counters_core *core = counters->core;
  return open_count(system, &counters->cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) &&
         open_count(system, &counters->reference, PERF_TYPE_HARDWARE,
                    PERF_COUNT_HW_REF_CPU_CYCLES) &&
         (core->useless == 0 ||
          (open_count(system, &counters->useless, PERF_TYPE_RAW, core->useless) &&
           open_count(system, &counters->lines_in, PERF_TYPE_RAW, core->lines_in)));
}

bool gfs_counters_open_on(gfs_counters *counters, const gfs_counters_system *system, char *why,
                          size_t size) {
  const gfs_counters_count closed = {.descriptor = -1};
  gfs_cpu_identity identity;
  system->identify(&identity);
  *counters = (gfs_counters){.system = system,
                             .core = gfs_counters_core_of(&identity),
                             .useless = closed,
                             .lines_in = closed,
                             .cycles = closed,
                             .reference = closed};
  if (counters->core == NULL) {
    snprintf(why, size, "counters of this CPU are not known ('%s', family %#x, model %#x)",
             identity.vendor, identity.family, identity.model);
    return false;
  }
  if (!open_rings(counters, why, size)) {
    gfs_counters_close(counters);
    return false;
  }
  if (!open_counts(counters)) {
    gfs_counters_explain(why, size, "perf_event_open", errno);
    gfs_counters_close(counters);
    return false;
  }
  return true;
}

void gfs_counters_close(gfs_counters *counters) {
  const gfs_counters_system *system = counters->system;
  gfs_counters_count *counts[] = {&counters->useless, &counters->lines_in, &counters->cycles,
                                  &counters->reference};
  for (int n = 0; n < counters->count; n++) {
    gfs_counters_ring *ring = &counters->rings[n];
    system->unmap(ring->page, ring_size());
    system->close(ring->loads);
    if (ring->beside >= 0)
      system->close(ring->beside);
  }
  for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
    if (counts[n]->descriptor >= 0)
      system->close(counts[n]->descriptor);
    counts[n]->descriptor = -1;
  }
  free(counters->rings);
  counters->rings = NULL;
  counters->count = 0;
}

/* ---- reading ---- */

/* Did memory answer, and not a cache? Levels as older kernels say them (lvl) and as newer ones do
 * (lvl_num). */
static bool from_memory(uint64_t data_source) {
  union perf_mem_data_src source = {.val = data_source};
  const uint64_t ram = PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;
  enum {
    LEVEL_CXL = 9,
    LEVEL_RAM = 13,
    LEVEL_PMEM = 14
  }; /* PERF_MEM_LVLNUM_*: older headers lack some */
  return (source.mem_op & PERF_MEM_OP_LOAD) != 0 &&
         ((source.mem_lvl & ram) != 0 || source.mem_lvl_num == LEVEL_CXL ||
          source.mem_lvl_num == LEVEL_RAM || source.mem_lvl_num == LEVEL_PMEM);
}

/* Take all records: perf_event.h, struct perf_event_mmap_page. They are words of 8 bytes, as is
 * where they begin, so only between words can one go round the end. */
static void drain(gfs_counters *counters, struct perf_event_mmap_page *page) {
  size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
  const uint8_t *data = (const uint8_t *)page + page_size;
  uint64_t room = page_size * RING_PAGES;
  uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
  while (tail != head) {
    struct perf_event_header header;
    uint64_t words[3] = {0};
    memcpy(&header, data + tail % room, sizeof header);
    if (header.size < sizeof header ||
        header.size > head - tail) { /* cut off: nothing behind it can be read */
      counters->lost++;
      break;
    }
    for (size_t n = 1; n < 3 && (n + 1) * 8 <= header.size; n++)
      memcpy(&words[n], data + (tail + n * 8) % room, 8);
    if (header.type == PERF_RECORD_SAMPLE && words[1] > 0 && from_memory(words[2])) {
      counters->samples++;
      counters->sum += words[1];
    } else if (header.type == PERF_RECORD_LOST)
      counters->lost += words[2];
    tail += header.size;
  }
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/* What was counted since `last`, as if the counter had run all the time that it was wanted; -1 if
 * it did not run. now: what the kernel says, to be the next `last`. Differences are right where a
 * number went round. */
static double counted(const gfs_counters *counters, const gfs_counters_count *count,
                      uint64_t now[3]) {
  if (count->descriptor < 0 ||
      counters->system->read(count->descriptor, now, 3 * sizeof *now) != 3 * sizeof *now)
    return -1;
  uint64_t enabled = now[1] - count->last[1], running = now[2] - count->last[2];
  return running == 0 ? -1
                      : (double)(now[0] - count->last[0]) * ((double)enabled / (double)running);
}

bool gfs_counters_read(gfs_counters *counters, double *latency_ns, double *useless_per_byte) {
  gfs_counters_count *counts[] = {&counters->cycles, &counters->reference, &counters->useless,
                                  &counters->lines_in};
  uint64_t now[4][3] = {{0}};
  double got[4];
  for (int n = 0; n < counters->count; n++)
    drain(counters, counters->rings[n].page);
  if (counters->samples < GFS_COUNTERS_LEAST)
    return false;
  for (size_t n = 0; n < 4; n++)
    got[n] = counted(counters, counts[n], now[n]);
  if (!(got[0] > 0) || !(got[1] > 0))
    return false;
  bool prefetches = got[2] >= 0 && got[3] >= 0;
  *latency_ns = (double)counters->sum / (double)counters->samples * (got[1] / got[0]) *
                counters->rings[0].nanoseconds;
  *useless_per_byte = !prefetches ? -1 : got[3] > 0 ? got[2] / got[3] : 0;
  for (size_t n = 0; n < (prefetches ? 4 : 2); n++)
    memcpy(counts[n]->last, now[n], sizeof now[n]);
  counters->samples = counters->sum = 0;
  return true;
}

#endif
