/* The world of one seed: virtual time, random choices, events in their order, and the trace. */
#ifndef SIMULATION_WORLD_H
#define SIMULATION_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

typedef struct counts {
  uint64_t events, operations, unknown, faults, lost, hash;
} counts;

extern counts world_counts;

void world_begin(uint64_t seed, bool prints);
/* Has the seed all commands, and files whose writing fails after it took effect? */
bool world_is_wide(void);
/* Virtual nanoseconds since the start. */
uint64_t world_now(void);
/* A number below `limit`; 0 if that is 0. */
uint64_t world_random(uint64_t limit);
uint64_t world_between(uint64_t least, uint64_t most);
bool world_chance(unsigned per_thousand);
/* Call run(what) after a delay. Two events of one time run in the order of these calls. */
void world_after(uint64_t delay, void (*run)(void *what), void *what);
/* Run events until `done` returns true; a world without events has failed. */
void world_run(bool (*done)(void));
/* Add a line to the trace. */
void world_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Report that this seed has failed, and end the process. */
_Noreturn void world_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Zeroed memory, which never fails and lasts as long as the seed. */
void *world_new(size_t bytes);

#endif
