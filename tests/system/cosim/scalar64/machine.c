/* machine.c: executes instructions, one after the other, each from a given machine state.
 *
 * Writes the addresses of the instruction slot and of the memory block, then reads one struct trial
 * after the other and answers each with the state after it. A fault ends the program. */
#include <state.h> /* of the processor; SLOT_BYTES: of an instruction and the nops after it */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, BLOCK_BYTES = 512 };

struct trial {
  uint8_t instruction[8];
  uint64_t reserved;
  struct state state;
  uint8_t memory[BLOCK_BYTES];
};

void cosim_run(const struct state *before, struct state *after);
extern uint8_t cosim_slot[];

static _Alignas(PAGE) uint8_t block[PAGE];

int main(void) {
  const uint64_t where[2] = {(uint64_t)(uintptr_t)cosim_slot, (uint64_t)(uintptr_t)block};
  if (mprotect((void *)(uintptr_t)(where[0] / PAGE * PAGE), PAGE,
               PROT_READ | PROT_WRITE | PROT_EXEC))
    return 1;
  if (fwrite(where, sizeof where, 1, stdout) != 1 || fflush(stdout))
    return 1;
  static struct trial trial;
  while (fread(&trial, sizeof trial, 1, stdin) == 1) {
    memcpy(cosim_slot, trial.instruction, SLOT_BYTES);
    __builtin___clear_cache((char *)cosim_slot, (char *)cosim_slot + SLOT_BYTES);
    memcpy(block, trial.memory, BLOCK_BYTES);
    const struct state before = trial.state;
    cosim_run(&before, &trial.state);
    memcpy(trial.memory, block, BLOCK_BYTES);
    if (fwrite(&trial, sizeof trial, 1, stdout) != 1)
      return 1;
  }
  return 0;
}
