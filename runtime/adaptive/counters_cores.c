/* Cores whose counters counters.c knows, by CPUID family and model.
 *
 * Intel: tools/perf/pmu-events/arch/x86/<core>/cache.json of the Linux kernel (Intel's event
 * lists): MEM_TRANS_RETIRED.LOAD_LATENCY is event 0xCD umask 0x01 on all of them, its least latency
 * in cycles being config1 (ldlat). L2_LINES_OUT.USELESS_HWPF and L2_LINES_IN.ALL are 0xF2/0x04 (the
 * paper's "PMU 0xf2") and 0xF1/0x1F from Skylake-SP to Ice Lake-SP, 0x26/0x04 and 0x25/0x1F from
 * Sapphire Rapids on. On Sapphire and Emerald Rapids the first needs event 0x03 umask 0x82 in front
 * of it in its group, or the kernel says ENODATA (arch/x86/events/intel/core.c,
 * PMU_FL_MEM_LOADS_AUX). AMD: IBS samples ops, of which the kernel says whether they are loads,
 * from where, and their latency; IbsOpCntCtl (bit 19 of MSR C001_1033, here of `config`) makes it
 * count ops (arch/x86/events/amd/ibs.c). Zen 4 and 5: older ones have no count of reference cycles
 * (arch/x86/events/amd/core.c), without which a latency in cycles is no time. They count no useless
 * prefetches. */
#include <string.h>

#include "counters.h"

static const gfs_counters_core skylake_sp = {
    "Skylake-SP to Cooper Lake", GFS_SAMPLES_PEBS, 0x01cd, 0, 0x04f2, 0x1ff1};
static const gfs_counters_core icelake_sp = {"Ice Lake-SP", GFS_SAMPLES_PEBS, 0x01cd, 0, 0x04f2,
                                             0x1ff1};
static const gfs_counters_core sapphire_rapids = {
    "Sapphire Rapids, Emerald Rapids", GFS_SAMPLES_PEBS, 0x01cd, 0x8203, 0x0426, 0x1f25};
static const gfs_counters_core granite_rapids = {
    "Granite Rapids", GFS_SAMPLES_PEBS, 0x01cd, 0, 0x0426, 0x1f25};
static const gfs_counters_core zen4 = {"Zen 4", GFS_SAMPLES_IBS, 1u << 19, 0, 0, 0};
static const gfs_counters_core zen5 = {"Zen 5", GFS_SAMPLES_IBS, 1u << 19, 0, 0, 0};

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

const gfs_counters_core *gfs_counters_core_of(const gfs_cpu_identity *identity) {
  for (size_t n = 0; n < sizeof known_cores / sizeof known_cores[0]; n++)
    if (strcmp(identity->vendor, known_cores[n].vendor) == 0 &&
        identity->family == known_cores[n].family && known_cores[n].first <= identity->model &&
        identity->model <= known_cores[n].last)
      return known_cores[n].core;
  return NULL;
}
