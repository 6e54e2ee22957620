#include "cpu_raw.h"

/* Linux, arch/arm64/include/uapi/asm/hwcap.h; FreeBSD has the same numbers. */
#define HWCAP_BIT_ASIMD (UINT64_C(1) << 1)
#define HWCAP_BIT_PMULL (UINT64_C(1) << 4)
#define HWCAP_BIT_CRC32 (UINT64_C(1) << 7)
#define HWCAP_BIT_CPUID (UINT64_C(1) << 11) /* MIDR_EL1 may be read */
#define HWCAP_BIT_SHA3 (UINT64_C(1) << 17)
#define HWCAP_BIT_SVE (UINT64_C(1) << 22)
#define HWCAP2_BIT_SVE2 (UINT64_C(1) << 1)

uint32_t gfs_aarch64_decode(gfs_auxv raw) {
  uint32_t features = 0;
  if (raw.hwcap & HWCAP_BIT_ASIMD)
    features |= GFSMITH_CPU_ASIMD;
  if (raw.hwcap & HWCAP_BIT_SHA3)
    features |= GFSMITH_CPU_SHA3;
  if (raw.hwcap & HWCAP_BIT_SVE)
    features |= GFSMITH_CPU_SVE;
  if (raw.hwcap2 & HWCAP2_BIT_SVE2)
    features |= GFSMITH_CPU_SVE2;
  return features;
}

uint32_t gfs_aarch64_decode_carryless(gfs_auxv raw) {
  return (raw.hwcap & HWCAP_BIT_PMULL ? GFS_CARRYLESS_GROUP : 0) |
         (raw.hwcap & HWCAP_BIT_CRC32 ? GFS_CARRYLESS_CRC32 : 0);
}

/* Arm ARM, D19.2, MIDR_EL1: implementer 24-31, part number 4-15. */
void gfs_aarch64_decode_identity(uint64_t midr, gfs_cpu_identity *identity) {
  static const char digits[] = "0123456789abcdef";
  *identity = (gfs_cpu_identity){"0x", 0, midr >> 4 & 0xfff};
  identity->vendor[2] = digits[midr >> 28 & 0xf];
  identity->vendor[3] = digits[midr >> 24 & 0xf];
}

#if defined(__aarch64__) || defined(_M_ARM64)

#if defined(__APPLE__)

#include <stddef.h>
#include <sys/sysctl.h>

static bool system_has(const char *name) {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, NULL, 0) == 0 && value != 0;
}

/* Every Arm Mac has ASIMD. None has SVE outside of SME's streaming mode. macOS 11 has only the
 * older name. */
uint32_t gfs_cpu_features(void) {
  bool sha3 = system_has("hw.optional.arm.FEAT_SHA3") || system_has("hw.optional.armv8_2_sha3");
  return GFSMITH_CPU_ASIMD | (sha3 ? GFSMITH_CPU_SHA3 : 0);
}

/* Every Arm Mac has PMULL and CRC32. */
uint32_t gfs_cpu_carryless(void) { return GFS_CARRYLESS_GROUP | GFS_CARRYLESS_CRC32; }

#elif defined(_WIN32)

/* <windows.h> declares names as common as WORD and accept. */
__declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature);

/* winnt.h of the Windows SDK 10.0.26100; older ones lack the names. Windows returns false for
 * features that it does not know. */
enum {
  FEATURE_CRYPTO = 30,
  FEATURE_CRC32 = 31,
  FEATURE_SVE = 46,
  FEATURE_SVE2 = 47,
  FEATURE_SHA3 = 64
};

/* Windows itself requires ASIMD. */
uint32_t gfs_cpu_features(void) {
  uint32_t features = GFSMITH_CPU_ASIMD;
  if (IsProcessorFeaturePresent(FEATURE_SHA3))
    features |= GFSMITH_CPU_SHA3;
  if (IsProcessorFeaturePresent(FEATURE_SVE))
    features |= GFSMITH_CPU_SVE;
  if (IsProcessorFeaturePresent(FEATURE_SVE2))
    features |= GFSMITH_CPU_SVE2;
  return features;
}

uint32_t gfs_cpu_carryless(void) {
  return (IsProcessorFeaturePresent(FEATURE_CRYPTO) ? GFS_CARRYLESS_GROUP : 0) |
         (IsProcessorFeaturePresent(FEATURE_CRC32) ? GFS_CARRYLESS_CRC32 : 0);
}

#else

uint32_t gfs_cpu_features(void) { return gfs_aarch64_decode(gfs_auxv_read()); }
uint32_t gfs_cpu_carryless(void) { return gfs_aarch64_decode_carryless(gfs_auxv_read()); }

#endif

/* A program may not read MIDR_EL1. If the kernel reports HWCAP_CPUID, it emulates the access
 * (Linux, Documentation/arch/arm64/cpu-feature-registers.rst). With several kinds of cores the
 * result is that of the core that runs this code. */
void gfs_cpu_identify(gfs_cpu_identity *identity) {
  *identity = (gfs_cpu_identity){"", 0, 0};
#if defined(__linux__) || defined(__FreeBSD__)
  if (gfs_auxv_read().hwcap & HWCAP_BIT_CPUID) {
    uint64_t midr;
    __asm__("mrs %0, MIDR_EL1" : "=r"(midr));
    gfs_aarch64_decode_identity(midr, identity);
  }
#endif
}

#endif
