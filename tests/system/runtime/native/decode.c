/* decode: print the features that a machine's raw values encode. Arguments: the machine, then its
 * values in hexadecimal:
 *   x86 max_leaf leaf1_ecx leaf7_ebx leaf7_ecx xcr0
 *   aarch64|power|s390x|loongarch hwcap hwcap2
 *   riscv probed ima_ext_0 hwcap vector_bytes
 *   midr value     prints implementer and part instead
 *   power-carryless hwcap hwcap2, riscv-carryless probed ima_ext_0 cpuperf_0
 *                  print the bits GFS_CARRYLESS_* instead */
#include <stdlib.h>
#include <string.h>

#include "cpu_raw.h"
#include "names.h"

static uint64_t value[5];

static gfs_auxv auxv(void) { return (gfs_auxv){value[0], value[1]}; }

static uint32_t x86(void) {
  gfs_x86_raw raw = {.max_leaf = (uint32_t)value[0],
                     .leaf1_ecx = (uint32_t)value[1],
                     .leaf7_ebx = (uint32_t)value[2],
                     .leaf7_ecx = (uint32_t)value[3],
                     .xcr0 = value[4]};
  return gfs_x86_decode(&raw);
}

static uint32_t riscv(void) {
  gfs_riscv_raw raw = {
      .probed = value[0] != 0, .ima_ext_0 = value[1], .hwcap = value[2], .vector_bytes = value[3]};
  return gfs_riscv_decode(&raw);
}

static uint32_t aarch64(void) { return gfs_aarch64_decode(auxv()); }
static uint32_t power(void) { return gfs_power_decode(auxv()); }
static uint32_t power_carryless(void) { return gfs_power_decode_carryless(auxv()); }

static uint32_t riscv_carryless(void) {
  gfs_riscv_raw raw = {.probed = value[0] != 0, .ima_ext_0 = value[1], .cpuperf_0 = value[2]};
  return gfs_riscv_decode_carryless(&raw);
}

static uint32_t s390x(void) { return gfs_s390x_decode(auxv()); }
static uint32_t loongarch(void) { return gfs_loongarch_decode(auxv()); }

int main(int argc, char **argv) {
  static const struct {
    const char *machine;
    int values;
    uint32_t (*decode)(void);
  } machines[] = {{"x86", 5, x86},     {"aarch64", 2, aarch64}, {"power", 2, power},
                  {"s390x", 2, s390x}, {"riscv", 4, riscv},     {"loongarch", 2, loongarch}};
  static const struct {
    const char *machine;
    int values;
    uint32_t (*decode)(void);
  } multipliers[] = {{"power-carryless", 2, power_carryless},
                     {"riscv-carryless", 3, riscv_carryless}};
  for (int n = 2; n < argc && n < 7; n++)
    value[n - 2] = strtoull(argv[n], NULL, 16);
  if (argc == 3 && strcmp(argv[1], "midr") == 0) {
    gfs_cpu_identity identity;
    gfs_aarch64_decode_identity(value[0], &identity);
    printf("%s %x %x\n", identity.vendor, identity.family, identity.model);
    return 0;
  }
  for (size_t n = 0; n < sizeof machines / sizeof machines[0]; n++)
    if (argc == machines[n].values + 2 && strcmp(argv[1], machines[n].machine) == 0)
      return features_print(machines[n].decode(), "\n") != 0;
  for (size_t n = 0; n < sizeof multipliers / sizeof multipliers[0]; n++)
    if (argc == multipliers[n].values + 2 && strcmp(argv[1], multipliers[n].machine) == 0)
      return printf("%x\n", (unsigned)multipliers[n].decode()) < 0;
  return 2;
}
