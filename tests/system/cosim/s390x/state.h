/* state.h: the registers of s390x that an instruction may read or write. */
#include <stdint.h>

enum { SLOT_BYTES = 8 };

struct state {
  uint64_t general[16], code, reserved; /* code: the condition code, as ipm stores it */
  uint8_t vectors[32][16];
};
