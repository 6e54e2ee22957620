/* names.h: the names of the feature bits of cpu.h. */
#ifndef NAMES_H
#define NAMES_H

#include <stdio.h>

#include "cpu.h"

/* Print the names of the features, each after `separator`. Returns the bits without a name. */
static inline uint32_t features_print(uint32_t found, const char *separator) {
#define NAMED(name) {GFSMITH_CPU_##name, #name}
  static const struct {
    uint32_t bit;
    const char *name;
  } features[] = {
      NAMED(SSSE3),    NAMED(AVX),    NAMED(AVX2),   NAMED(BMI2),   NAMED(AVX512F), NAMED(AVX512BW),
      NAMED(AVX512VL), NAMED(GFNI),   NAMED(ASIMD),  NAMED(SHA3),   NAMED(SVE),     NAMED(SVE2),
      NAMED(ALTIVEC),  NAMED(VSX207), NAMED(VSX300), NAMED(VSX310), NAMED(RVV),     NAMED(VX),
      NAMED(VXE),      NAMED(LSX),    NAMED(LASX),
  };
#undef NAMED
  for (size_t n = 0; n < sizeof features / sizeof features[0]; n++) {
    if (found & features[n].bit)
      printf("%s%s", separator, features[n].name);
    found &= ~features[n].bit;
  }
  return found;
}

#endif
