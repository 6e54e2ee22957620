#include "cpu_raw.h"

/* Intel SDM volume 2A, CPUID: positions of the feature bits. */
enum {
  LEAF1_ECX_PCLMULQDQ = 1,
  LEAF1_ECX_SSSE3 = 9,
  LEAF1_ECX_SSE42 = 20,
  LEAF1_ECX_OSXSAVE = 27,
  LEAF1_ECX_AVX = 28,
  LEAF7_EBX_AVX2 = 5,
  LEAF7_EBX_BMI2 = 8,
  LEAF7_EBX_AVX512F = 16,
  LEAF7_EBX_AVX512BW = 30,
  LEAF7_EBX_AVX512VL = 31,
  LEAF7_ECX_VBMI2 = 6,
  LEAF7_ECX_GFNI = 8,
  LEAF7_ECX_VPCLMULQDQ = 10
};

/* Intel SDM volume 1, 13.3: state components saved by the operating system, as bits of XCR0. */
#define XCR0_YMM 0x06u /* xmm, ymm */
#define XCR0_ZMM 0xe6u /* these, opmask, upper halves of zmm0-15, zmm16-31 */

static bool bit(uint32_t word, unsigned position) { return word >> position & 1; }

/* AVX-512 features, given that AVX2 may be used (Intel SDM volume 1, 15.2 to 15.4). */
static uint32_t decode_avx512(const gfs_x86_raw *raw) {
  uint32_t features = 0;
  if ((raw->xcr0 & XCR0_ZMM) != XCR0_ZMM || !bit(raw->leaf7_ebx, LEAF7_EBX_AVX512F))
    return 0;
  features |= GFSMITH_CPU_AVX512F;
  if (bit(raw->leaf7_ebx, LEAF7_EBX_AVX512BW))
    features |= GFSMITH_CPU_AVX512BW;
  if (bit(raw->leaf7_ebx, LEAF7_EBX_AVX512VL))
    features |= GFSMITH_CPU_AVX512VL;
  return features;
}

uint32_t gfs_x86_decode(const gfs_x86_raw *raw) {
  uint32_t features = 0;
  bool leaf7 = raw->max_leaf >= 7;
  bool os_saves_ymm = bit(raw->leaf1_ecx, LEAF1_ECX_OSXSAVE) && (raw->xcr0 & XCR0_YMM) == XCR0_YMM;
  if (raw->max_leaf >= 1 && bit(raw->leaf1_ecx, LEAF1_ECX_SSSE3))
    features |= GFSMITH_CPU_SSSE3;
  if (leaf7 && bit(raw->leaf7_ebx, LEAF7_EBX_BMI2))
    features |= GFSMITH_CPU_BMI2; /* general registers only, so no support by the operating system
                                     is needed */
  if (leaf7 && bit(raw->leaf7_ecx, LEAF7_ECX_GFNI))
    features |= GFSMITH_CPU_GFNI; /* on xmm; wider forms also need AVX or AVX512F */
  if (raw->max_leaf < 1 || !os_saves_ymm || !bit(raw->leaf1_ecx, LEAF1_ECX_AVX))
    return features;
  features |= GFSMITH_CPU_AVX;
  if (leaf7 && bit(raw->leaf7_ebx, LEAF7_EBX_AVX2))
    features |= GFSMITH_CPU_AVX2 | decode_avx512(raw);
  return features;
}

/* The vectors themselves are features of instruction sets. */
uint32_t gfs_x86_decode_carryless(const gfs_x86_raw *raw) {
  uint32_t found = 0;
  if (raw->max_leaf >= 1 && bit(raw->leaf1_ecx, LEAF1_ECX_PCLMULQDQ))
    found |= GFS_CARRYLESS_GROUP;
  if (raw->max_leaf >= 1 && bit(raw->leaf1_ecx, LEAF1_ECX_SSE42))
    found |= GFS_CARRYLESS_CRC32; /* on general registers */
  if (raw->max_leaf >= 7 && bit(raw->leaf7_ecx, LEAF7_ECX_VPCLMULQDQ))
    found |= GFS_CARRYLESS_VECTOR;
  if (raw->max_leaf >= 7 && bit(raw->leaf7_ecx, LEAF7_ECX_VBMI2))
    found |= GFS_CARRYLESS_EXPAND;
  return found;
}

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)

#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)

#include <immintrin.h>
#include <intrin.h>

static void cpuid(uint32_t leaf, uint32_t out[4]) {
  int words[4];
  __cpuidex(words, (int)leaf, 0);
  for (int i = 0; i < 4; i++)
    out[i] = (uint32_t)words[i];
}

static uint64_t xgetbv(void) { return _xgetbv(0); }

#else

#include <cpuid.h>

static void cpuid(uint32_t leaf, uint32_t out[4]) {
  __cpuid_count(leaf, 0, out[0], out[1], out[2], out[3]);
}

/* The intrinsic would require -mxsave for this file. */
static uint64_t xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

#endif

/* Family and model from CPUID 1, eax. Intel SDM volume 2A, CPUID, figure 3-6: model 0-3 low and
 * 16-19 high, family 8-11 and 20-27. */
static void decode_identity(uint32_t leaf1_eax, gfs_cpu_identity *identity) {
  unsigned family = leaf1_eax >> 8 & 0xf, model = leaf1_eax >> 4 & 0xf;
  if (family == 6 || family == 15)
    model |= leaf1_eax >> 12 & 0xf0;
  if (family == 15)
    family += leaf1_eax >> 20 & 0xff;
  identity->family = family;
  identity->model = model;
}

void gfs_cpu_identify(gfs_cpu_identity *identity) {
  uint32_t out[4]; /* eax, ebx, ecx, edx */
  *identity = (gfs_cpu_identity){"", 0, 0};
  cpuid(0, out);
  memcpy(identity->vendor, &out[1], 4);
  memcpy(identity->vendor + 4, &out[3], 4);
  memcpy(identity->vendor + 8, &out[2], 4);
  cpuid(1, out);
  decode_identity(out[0], identity);
}

static gfs_x86_raw read_raw(void) {
  gfs_x86_raw raw = {0};
  uint32_t out[4]; /* eax, ebx, ecx, edx */
  cpuid(0, out);
  raw.max_leaf = out[0];
  cpuid(1, out);
  raw.leaf1_ecx = out[2];
  if (raw.max_leaf >= 7) {
    cpuid(7, out);
    raw.leaf7_ebx = out[1];
    raw.leaf7_ecx = out[2];
  }
  if (bit(raw.leaf1_ecx, LEAF1_ECX_OSXSAVE))
    raw.xcr0 = xgetbv();
  return raw;
}

uint32_t gfs_cpu_features(void) {
  gfs_x86_raw raw = read_raw();
  return gfs_x86_decode(&raw);
}

uint32_t gfs_cpu_carryless(void) {
  gfs_x86_raw raw = read_raw();
  return gfs_x86_decode_carryless(&raw);
}

#endif
