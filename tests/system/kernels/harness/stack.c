/* stack.c: the stack on which a kernel runs. It holds junk below the stack pointer and the caller's
 * frame above it, whose bytes the kernel may change only where its ABI allows it. */
#include "machine.h"

#include <stdio.h>
#include <string.h>

uint64_t junk_word(uint64_t *state) {
  return (next_random(state) >> 16) | UINT64_C(0x5bad000000000000);
}

uint8_t *stack_frame(void) { return arena_base(REGION_STACK) + REGION_BYTES - FRAME_BYTES; }

void stack_fill(uint64_t *state, uint8_t frame[FRAME_BYTES]) {
  uint64_t words[(FRAME_BYTES + BELOW_BYTES) / 8];
  for (size_t i = 0; i < sizeof words / 8; i++) {
    words[i] = junk_word(state);
  }
  memcpy(frame, words, FRAME_BYTES);
  memcpy(stack_frame(), frame, FRAME_BYTES);
  memcpy(stack_frame() - BELOW_BYTES, words + FRAME_BYTES / 8, BELOW_BYTES);
}

bool stack_check(const uint8_t frame[FRAME_BYTES], size_t from, size_t to, char *failure,
                 size_t size) {
  const uint8_t *now = stack_frame();
  if (memcmp(now, frame, from) == 0 && memcmp(now + to, frame + to, FRAME_BYTES - to) == 0) {
    return true;
  }
  size_t i = 0;
  while (now[i] == frame[i] || (i >= from && i < to)) {
    i++;
  }
  snprintf(failure, size, "overwrites the caller's frame, byte %zu of it", i);
  return false;
}
