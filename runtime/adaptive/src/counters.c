#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall, sysconf */
#endif
#include <stdio.h>
#include <string.h>

#include "counters.h"

bool gfs_counters_open(gfs_counters *counters, char *why, size_t size) {
  return gfs_counters_open_on(counters, gfs_counters_kernel, why, size);
}

#if !defined(GFS_SEES_COUNTERS)

const gfs_counters_system *const gfs_counters_kernel = NULL;

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
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- known cores, by CPUID family and model ----
 *
 * Intel: tools/perf/pmu-events/arch/x86/<core>/cache.json of the Linux kernel (Intel's event
 * lists): MEM_TRANS_RETIRED.LOAD_LATENCY is event 0xCD umask 0x01 on all of them, its least latency
 * in cycles being config1 (ldlat). L2_LINES_OUT.USELESS_HWPF and L2_LINES_IN.ALL are 0xF2/0x04 (the
 * paper's "PMU 0xf2") and 0xF1/0x1F from Skylake-SP to Ice Lake-SP, 0x26/0x04 and 0x25/0x1F from
 * Sapphire Rapids on. On Sapphire and Emerald Rapids the first needs event 0x03 umask 0x82 before
 * it in its group, or the kernel returns ENODATA (arch/x86/events/intel/core.c,
 * PMU_FL_MEM_LOADS_AUX). AMD: IBS samples ops; for each the kernel reports whether it is a load,
 * the data source, and the latency; IbsOpCntCtl (bit 19 of MSR C001_1033, here of `config`) makes
 * it count ops (arch/x86/events/amd/ibs.c). Zen 4 and 5: older cores do not count reference cycles
 * (arch/x86/events/amd/core.c), without which a latency in cycles cannot be converted to time.
 *
 * No event of AMD counts useless prefetches. A lower bound follows from three events of the
 * second-level cache (amdzen4/cache.json, amdzen5/l2-cache.json of the same folder): lines that its
 * prefetchers fetched, from the third level (0x71) or memory (0x72), less requests of the core for
 * data that found their line (0x64, umask 0xF0): each line in use was requested at least once.
 * Umask 0x1F of the first two: the prefetchers of the second level; those of the first level
 * request their lines as the core does. With misses of the core (0x64, umask 0x08) they are all
 * fetched lines. With cycles and reference cycles that makes six events, as many as these cores
 * have counters. */
#define INTEL_EVENTS(useless, lines_in)                                                            \
  {                                                                                                \
      {useless, 1, 0},                                                                             \
      {lines_in, 0, 1},                                                                            \
  }
#define AMD_EVENTS                                                                                 \
  {                                                                                                \
      {0x1f71, 1, 1},                                                                              \
      {0x1f72, 1, 1},                                                                              \
      {0xf064, -1, 0},                                                                             \
      {0x0864, 0, 1},                                                                              \
  }

static const gfs_counters_core skylake_sp = {"Skylake-SP to Cooper Lake", GFS_SAMPLES_PEBS, 0x01cd,
                                             0, INTEL_EVENTS(0x04f2, 0x1ff1)};
static const gfs_counters_core icelake_sp = {"Ice Lake-SP", GFS_SAMPLES_PEBS, 0x01cd, 0,
                                             INTEL_EVENTS(0x04f2, 0x1ff1)};
static const gfs_counters_core sapphire_rapids = {"Sapphire Rapids, Emerald Rapids",
                                                  GFS_SAMPLES_PEBS, 0x01cd, 0x8203,
                                                  INTEL_EVENTS(0x0426, 0x1f25)};
static const gfs_counters_core granite_rapids = {"Granite Rapids", GFS_SAMPLES_PEBS, 0x01cd, 0,
                                                 INTEL_EVENTS(0x0426, 0x1f25)};
static const gfs_counters_core zen4 = {"Zen 4", GFS_SAMPLES_IBS, 1u << 19, 0, AMD_EVENTS};
static const gfs_counters_core zen5 = {"Zen 5", GFS_SAMPLES_IBS, 1u << 19, 0, AMD_EVENTS};

static const struct {
  const char *vendor;
  unsigned family, first, last; /* models */
  const gfs_counters_core *core;
} known_cores[] = {
    {"GenuineIntel", 6, 0x55, 0x55, &skylake_sp},
    {"GenuineIntel", 6, 0x6a, 0x6a, &icelake_sp},
    {"GenuineIntel", 6, 0x6c, 0x6c, &icelake_sp},
    {"GenuineIntel", 6, 0x8f, 0x8f, &sapphire_rapids},
    {"GenuineIntel", 6, 0xcf, 0xcf, &sapphire_rapids},
    {"GenuineIntel", 6, 0xad, 0xae, &granite_rapids},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, &zen4},
    {"AuthenticAMD", 0x19, 0x60, 0x7f, &zen4},
    {"AuthenticAMD", 0x19, 0xa0, 0xaf, &zen4},
    {"AuthenticAMD", 0x1a, 0x00, 0x77, &zen5},
};

/* Return the core type of an identity (cpu.h), or NULL. */
static const gfs_counters_core *core_of(const gfs_cpu_identity *identity) {
  for (size_t n = 0; n < sizeof known_cores / sizeof known_cores[0]; n++)
    if (strcmp(identity->vendor, known_cores[n].vendor) == 0 &&
        identity->family == known_cores[n].family && known_cores[n].first <= identity->model &&
        identity->model <= known_cores[n].last)
      return known_cores[n].core;
  return NULL;
}

/* ---- system calls ---- */

static void kernel_identify(gfs_cpu_identity *identity) {
#if defined(GFSMITH_SINGLE_ISA)
  memset(identity, 0, sizeof *identity); /* builds without these calls have no cpu_*.c */
#else
  gfs_cpu_identify(identity);
#endif
}

static int kernel_processors(void) { return (int)sysconf(_SC_NPROCESSORS_CONF); }

static int kernel_ibs_type(void) {
  char text[16] = "";
  int file = open("/sys/bus/event_source/devices/ibs_op/type", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return -1;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  return got > 0 ? atoi(text) : -1;
}

static int kernel_open(const struct perf_event_attr *attr, int processor, int group) {
  return (int)syscall(SYS_perf_event_open, attr, 0, processor, group, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_mmap_page *kernel_map(int descriptor, size_t size) {
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return page == MAP_FAILED ? NULL : page;
}

static void kernel_unmap(struct perf_event_mmap_page *page, size_t size) { munmap(page, size); }

static ptrdiff_t kernel_read(int descriptor, void *to, size_t size) {
  return read(descriptor, to, size);
}

static void kernel_close(int descriptor) { close(descriptor); }

static const gfs_counters_system linux_calls = {
    .identify = kernel_identify,
    .processors = kernel_processors,
    .ibs_type = kernel_ibs_type,
    .open = kernel_open,
    .map = kernel_map,
    .unmap = kernel_unmap,
    .read = kernel_read,
    .close = kernel_close,
};

const gfs_counters_system *const gfs_counters_kernel = &linux_calls;

/* Describe a failed system call in one line: its error, and the likely cause. */
static void explain(char *why, size_t size, const char *call, int error) {
  static const struct {
    int error;
    const char *name, *meaning;
  } errors[] = {
      {EACCES, "EACCES", "not permitted: kernel.perf_event_paranoid is above 2"},
      {EPERM, "EPERM",
       "not permitted: kernel.perf_event_paranoid, kernel.perf_event_mlock_kb or a container"},
      {ENOENT, "ENOENT", "this machine has no such counter, like most virtual machines"},
      {ENODEV, "ENODEV", "this machine has no such counter, like most virtual machines"},
      {EOPNOTSUPP, "EOPNOTSUPP", "this machine cannot sample loads, like most virtual machines"},
      {ENODATA, "ENODATA", "this kernel samples this core's loads in another way"},
      {EINVAL, "EINVAL", "this kernel cannot use IBS for one program; needed: Linux 6.14"},
      {ENOSYS, "ENOSYS", "this kernel or its sandbox has no counters"},
      {EMFILE, "EMFILE", "too many open files"},
      {EBUSY, "EBUSY", "another program uses the counters"},
  };
  for (size_t n = 0; n < sizeof errors / sizeof errors[0]; n++)
    if (errors[n].error == error) {
      snprintf(why, size, "%s: %s (%s)", call, errors[n].name, errors[n].meaning);
      return;
    }
  snprintf(why, size, "%s: error %d", call, error);
}

/* ---- samples and counts ---- */

/* Records of one CPU: perf's ring buffer of PAGES pages behind the control page. 4 KiB hold about
 * 170 samples, and all pages together stay below the default of perf_event_mlock_kb. */
typedef struct gfs_counters_ring {
  int beside, loads; /* descriptors; beside: -1 if no event has to lead the group */
  struct perf_event_mmap_page *page;
  double nanoseconds; /* nanoseconds per tick of the reference clock */
} gfs_counters_ring;

enum { RING_PAGES = 4, IBS_FILTER = 1 };

/* Loads that took fewer cycles were served by a cache and need no sample. */
#define LEAST_CYCLES 64u

static size_t ring_size(void) { return (size_t)sysconf(_SC_PAGESIZE) * (RING_PAGES + 1); }

/* ---- opening ---- */

/* An event that counts user code of this thread and of threads that it starts. */
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
    attr.config2 = IBS_FILTER; /* the kernel, not the CPU, discards samples outside of user code */
  } else {
    attr.config1 = LEAST_CYCLES;
    attr.precise_ip = 2;
  }
  attr.freq = 1;
  attr.sample_freq = GFS_COUNTERS_HERTZ;
  attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
  return attr;
}

/* Nanoseconds per tick of the time-stamp counter, which is the reference clock; 0 if it is not
 * constant. */
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

/* False: nothing is left open, and errno holds the reason. */
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

/* Open the rings of all existing CPUs. */
static bool open_rings(gfs_counters *counters, char *why, size_t size) {
  const gfs_counters_system *system = counters->system;
  const char *call = "perf_event_open";
  int ibs_type = counters->core->samples == GFS_SAMPLES_IBS ? system->ibs_type() : 0;
  int processors = system->processors();
  if (ibs_type < 0) {
    snprintf(why, size, "this machine has no IBS, like most virtual machines");
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
      explain(why, size, call, errno);
      return false;
    }
  }
  if (counters->count == 0) {
    explain(why, size, call, ENODEV);
    return false;
  }
  for (int n = 0; n < counters->count; n++)
    if (!(counters->rings[n].nanoseconds > 0)) {
      snprintf(why, size,
               "the time-stamp counter is not constant, so cycles cannot be converted to time");
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
  const gfs_counters_event *events = counters->core->events;
  bool good =
      open_count(system, &counters->cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) &&
      open_count(system, &counters->reference, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES);
  for (int n = 0; good && n < GFS_COUNTERS_EVENTS && events[n].config != 0; n++)
    good = open_count(system, &counters->events[n], PERF_TYPE_RAW, events[n].config);
  return good;
}

bool gfs_counters_open_on(gfs_counters *counters, const gfs_counters_system *system, char *why,
                          size_t size) {
  const gfs_counters_count closed = {.descriptor = -1};
  gfs_cpu_identity identity;
  system->identify(&identity);
  *counters = (gfs_counters){
      .system = system, .core = core_of(&identity), .cycles = closed, .reference = closed};
  for (int n = 0; n < GFS_COUNTERS_EVENTS; n++)
    counters->events[n] = closed;
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
    explain(why, size, "perf_event_open", errno);
    gfs_counters_close(counters);
    return false;
  }
  return true;
}

static void close_count(const gfs_counters_system *system, gfs_counters_count *count) {
  if (count->descriptor >= 0)
    system->close(count->descriptor);
  count->descriptor = -1;
}

void gfs_counters_close(gfs_counters *counters) {
  const gfs_counters_system *system = counters->system;
  for (int n = 0; n < counters->count; n++) {
    gfs_counters_ring *ring = &counters->rings[n];
    system->unmap(ring->page, ring_size());
    system->close(ring->loads);
    if (ring->beside >= 0)
      system->close(ring->beside);
  }
  close_count(system, &counters->cycles);
  close_count(system, &counters->reference);
  for (int n = 0; n < GFS_COUNTERS_EVENTS; n++)
    close_count(system, &counters->events[n]);
  free(counters->rings);
  counters->rings = NULL;
  counters->count = 0;
}

/* ---- reading ---- */

/* Was the load served by memory, and not by a cache? Older kernels report levels in lvl, newer ones
 * in lvl_num. */
static bool from_memory(uint64_t data_source) {
  union perf_mem_data_src source = {.val = data_source};
  const uint64_t ram = PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;
  enum {
    LEVEL_CXL = 9,
    LEVEL_RAM = 13,
    LEVEL_PMEM = 14
  }; /* PERF_MEM_LVLNUM_*: some are missing in older headers */
  return (source.mem_op & PERF_MEM_OP_LOAD) != 0 &&
         ((source.mem_lvl & ram) != 0 || source.mem_lvl_num == LEVEL_CXL ||
          source.mem_lvl_num == LEVEL_RAM || source.mem_lvl_num == LEVEL_PMEM);
}

/* Read all records (perf_event.h, struct perf_event_mmap_page). Records and their start are
 * multiples of 8 bytes, so the buffer can wrap around only between two words. */
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
        header.size > head - tail) { /* truncated: nothing after it can be read */
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

/* The increase since `last`, extrapolated to the whole time during which the counter was enabled;
 * -1 if it did not run. now: the kernel's values, to be the next `last`. Differences are correct
 * after a wraparound. */
static double counted(const gfs_counters *counters, const gfs_counters_count *count,
                      uint64_t now[3]) {
  if (count->descriptor < 0 ||
      counters->system->read(count->descriptor, now, 3 * sizeof *now) != 3 * sizeof *now)
    return -1;
  uint64_t enabled = now[1] - count->last[1], running = now[2] - count->last[2];
  return running == 0 ? -1
                      : (double)(now[0] - count->last[0]) * ((double)enabled / (double)running);
}

/* Uselessly prefetched lines per line fetched since the last such result; -1 if an event did not
 * run. The events run at slightly different times if others use the counters too, so a lower bound
 * of the first can be negative: then none is known to be useless. */
static double useless_share(gfs_counters *counters) {
  const gfs_counters_event *events = counters->core->events;
  uint64_t now[GFS_COUNTERS_EVENTS][3] = {{0}};
  double useless = 0, lines_in = 0;
  int count = 0;
  for (; count < GFS_COUNTERS_EVENTS && events[count].config != 0; count++) {
    double got = counted(counters, &counters->events[count], now[count]);
    if (got < 0)
      return -1;
    useless += events[count].useless * got;
    lines_in += events[count].lines_in * got;
  }
  for (int n = 0; n < count; n++)
    memcpy(counters->events[n].last, now[n], sizeof now[n]);
  return useless > 0 && lines_in > 0 ? useless / lines_in : 0;
}

bool gfs_counters_read(gfs_counters *counters, double *latency_ns, double *useless_per_byte) {
  uint64_t cycles[3], reference[3];
  for (int n = 0; n < counters->count; n++)
    drain(counters, counters->rings[n].page);
  if (counters->samples < GFS_COUNTERS_LEAST)
    return false;
  double core = counted(counters, &counters->cycles, cycles);
  double steady = counted(counters, &counters->reference, reference);
  if (!(core > 0) || !(steady > 0))
    return false;
  *latency_ns = (double)counters->sum / (double)counters->samples * (steady / core) *
                counters->rings[0].nanoseconds;
  *useless_per_byte = useless_share(counters);
  memcpy(counters->cycles.last, cycles, sizeof cycles);
  memcpy(counters->reference.last, reference, sizeof reference);
  counters->samples = counters->sum = 0;
  return true;
}

#endif
