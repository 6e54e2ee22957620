/* Processes as coroutines: the main functions of the agent and of the chunk servers, whose loops
 * wait in virtual time. A started process lasts until it dies; a restart makes another one. */
#ifndef SIMULATION_PROCESS_H
#define SIMULATION_PROCESS_H

#include "world.h"

struct gfsmith_node;

typedef struct process {
  unsigned rank;
  char name[16];
  bool dead, paused;
  uint64_t since, stood; /* time of the last pause, duration of all pauses before */
  unsigned doom;         /* it dies at the next effect but doom - 1; 0: it does not */
  unsigned starved;      /* allocations of 1000 that fail */
  struct gfsmith_node *node;
  uint64_t turn;     /* number of times that it has run */
  uint64_t notified; /* time for which it is to run next; UINT64_MAX: none */
  struct context *context;
} process;

/* The running process, or NULL in the world's own code. */
extern process *process_current;
/* Called after a process has run or died. */
extern void (*process_ran)(process *p);

process *process_start(unsigned rank, int (*program)(int, char **), char **arguments);
void process_kill(process *p);
void process_pause(process *p, bool paused);
/* Duration of all its pauses until now. */
uint64_t process_stood(const process *p);
/* Something has happened for which the process waits. */
void process_notify(process *p);
/* Let the running process wait until a time, or until it is notified. */
void process_wait(uint64_t until);
void process_sleep(uint64_t duration);
/* The running process is about to change something outside itself: it may die here. */
void process_effect(void);
/* Shift the wall clock of all processes. */
void process_shift_clock(int64_t seconds);

#endif
