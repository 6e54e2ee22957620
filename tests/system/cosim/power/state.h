/* state.h: the registers of POWER that an instruction may read or write. */
#include <stdint.h>

enum { SLOT_BYTES = 8 };

struct state {
  uint64_t general[32], lr, ctr, cr, xer;
  uint8_t vectors[64][16]; /* as stxvd2x stores them */
};
