/* decode: print the features that gfs_cpu_decode finds in five raw values given in hexadecimal:
 * max_leaf leaf1_ecx leaf7_ebx leaf7_ecx xcr0. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  gfs_cpu_raw raw = {.max_leaf = (uint32_t)strtoul(argv[1], NULL, 16),
                     .leaf1_ecx = (uint32_t)strtoul(argv[2], NULL, 16),
                     .leaf7_ebx = (uint32_t)strtoul(argv[3], NULL, 16),
                     .leaf7_ecx = (uint32_t)strtoul(argv[4], NULL, 16),
                     .xcr0 = strtoull(argv[5], NULL, 16)};
  static const struct {
    uint32_t bit;
    const char *name;
  } features[] = {
      {GFSMITH_CPU_SSSE3, "SSSE3"},       {GFSMITH_CPU_AVX, "AVX"},
      {GFSMITH_CPU_AVX2, "AVX2"},         {GFSMITH_CPU_BMI2, "BMI2"},
      {GFSMITH_CPU_AVX512F, "AVX512F"},   {GFSMITH_CPU_AVX512BW, "AVX512BW"},
      {GFSMITH_CPU_AVX512VL, "AVX512VL"}, {GFSMITH_CPU_GFNI, "GFNI"},
  };
  uint32_t found = gfs_cpu_decode(&raw);
  for (size_t n = 0; n < sizeof features / sizeof features[0]; n++) {
    if (found & features[n].bit)
      puts(features[n].name);
    found &= ~features[n].bit;
  }
  return found != 0;
}
