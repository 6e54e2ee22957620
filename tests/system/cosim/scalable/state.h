/* state.h: the registers of AArch64 with SVE that an instruction may read or write. */
#include <stdint.h>

enum { SLOT_BYTES = 4 };

struct state {
  uint64_t general[31], sp, nzcv, reserved;
  uint8_t vectors[32][256], predicates[16][32];
};
