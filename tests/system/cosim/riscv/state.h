/* state.h: the registers of RISC-V that an instruction may read or write. */
#include <stdint.h>

enum { SLOT_BYTES = 4 };

struct state {
  uint64_t general[32], vl, vtype;
  uint8_t vectors[32][128]; /* the first VLEN / 8 bytes of each count */
};
