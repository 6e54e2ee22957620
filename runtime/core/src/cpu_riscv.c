#include "cpu_raw.h"

/* Linux, Documentation/arch/riscv/hwprobe.rst: the extensions V 1.0, Zbb and Zbc. */
#define IMA_EXT_0_V (UINT64_C(1) << 2)
#define IMA_EXT_0_ZBB (UINT64_C(1) << 4)
#define IMA_EXT_0_ZBC (UINT64_C(1) << 7)

/* Loads of a word at any address are faster than loads of its bytes. */
#define CPUPERF_0_MISALIGNED UINT64_C(7)
#define CPUPERF_0_MISALIGNED_FAST UINT64_C(3)

/* AT_HWCAP: one bit for every letter. Some vendors' kernels set it for the draft 0.7.1 too. */
#define HWCAP_BIT_V (UINT64_C(1) << ('V' - 'A'))

/* V 1.0 has vectors of at least 128 bits. */
enum { VECTOR_BYTES_MIN = 16 };

/* Does the kernel report vector instructions? */
static bool has_vectors(const gfs_riscv_raw *raw) {
  return raw->probed ? (raw->ima_ext_0 & IMA_EXT_0_V) != 0 : (raw->hwcap & HWCAP_BIT_V) != 0;
}

uint32_t gfs_riscv_decode(const gfs_riscv_raw *raw) {
  return has_vectors(raw) && raw->vector_bytes >= VECTOR_BYTES_MIN ? GFSMITH_CPU_RVV : 0;
}

/* The routines load words at any address, and reverse their bytes. */
uint32_t gfs_riscv_decode_carryless(const gfs_riscv_raw *raw) {
  const uint64_t extensions = IMA_EXT_0_ZBB | IMA_EXT_0_ZBC;
  bool has = raw->probed && (raw->ima_ext_0 & extensions) == extensions;
  bool fast = (raw->cpuperf_0 & CPUPERF_0_MISALIGNED) == CPUPERF_0_MISALIGNED_FAST;
  return has && fast ? GFS_CARRYLESS_GROUP : 0;
}

#if defined(__riscv)

/* vsetvli rd, x0, e8, m1, ta, ma: the bytes of a vector. The draft 0.7.1 has no ta and ma: there
 * the vector type is illegal, which grants 0 bytes. The instruction is written as a number because
 * the assembler may not accept V here. Code compiled without V does not depend on vl and vtype. */
static uint64_t vector_bytes(void) {
  register uint64_t granted __asm__("t0");
#if defined(__riscv_vector)
  __asm__ volatile(".4byte 0x0c0072d7" : "=r"(granted)::"vl", "vtype");
#else
  __asm__ volatile(".4byte 0x0c0072d7" : "=r"(granted));
#endif
  return granted;
}

#if defined(__linux__)

enum { NUMBER_HWPROBE = 258, KEY_IMA_EXT_0 = 4, KEY_CPUPERF_0 = 5 };

/* The extensions that all online CPUs have, and their common performance. False before Linux 6.4.
 * The system call is made by hand, because C libraries declare syscall() only with a feature macro
 * before the first header. */
static bool probe(gfs_riscv_raw *raw) {
  struct {
    int64_t key;
    uint64_t value;
  } pair[2] = {{KEY_IMA_EXT_0, 0}, {KEY_CPUPERF_0, 0}};
  register long number __asm__("a7") = NUMBER_HWPROBE;
  register long pairs __asm__("a0") = (long)pair; /* also the result */
  register long pair_count __asm__("a1") = 2;
  register long cpu_count __asm__("a2") = 0;
  register long cpus __asm__("a3") = 0;
  register long flags __asm__("a4") = 0;
  __asm__ volatile("ecall"
                   : "+r"(pairs)
                   : "r"(number), "r"(pair_count), "r"(cpu_count), "r"(cpus), "r"(flags)
                   : "memory");
  if (pairs != 0)
    return false;
  raw->ima_ext_0 = pair[0].value; /* 0 for a key unknown to the kernel */
  raw->cpuperf_0 = pair[1].value;
  return true;
}

#else

static bool probe(gfs_riscv_raw *raw) {
  (void)raw;
  return false;
}

#endif

uint32_t gfs_cpu_features(void) {
  gfs_riscv_raw raw = {.hwcap = gfs_auxv_read().hwcap};
  raw.probed = probe(&raw);
  if (has_vectors(&raw))
    raw.vector_bytes = vector_bytes();
  return gfs_riscv_decode(&raw);
}

uint32_t gfs_cpu_carryless(void) {
  gfs_riscv_raw raw = {.probed = false};
  raw.probed = probe(&raw);
  return gfs_riscv_decode_carryless(&raw);
}

#endif
