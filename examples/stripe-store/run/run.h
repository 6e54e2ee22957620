/* stripe-store: starts the processes of a store on this machine, watches them, stops them. */
#ifndef STORE_RUN_H
#define STORE_RUN_H

#include "common/files.h"
#include "common/layout.h"

#include <event2/event.h>
#include <sys/types.h>

enum { PROCESSES_MAX = 2 * LAYOUT_SHARDS_MAX + 1, ARGUMENTS_MAX = 64 };

/* ---- folder.c ---- */

/* Make the folder and its key, if they are not there, and lock it; -1, with a message: refused. The
 * lock is held until the process ends. */
int folder_take(const char *folder);
/* What a run leaves that the next one must not find. */
void folder_clean(const char *folder, unsigned nodes);
/* What the agent remembers of memories that are gone; true: there was something. */
bool folder_forget(const char *folder);
/* The process that holds the lock; 0: none does. */
pid_t folder_holder(const char *folder);

/* ---- process.c ---- */

typedef struct process {
  char name[32]; /* "memcached 3" */
  char **argv;   /* its strings too are this one's */
  int space;     /* the network namespace that it is started in; -1: this one */
  pid_t pid;     /* 0: does not run */
  unsigned rest; /* ticks until it is started again */
} process;

typedef struct processes {
  process at[PROCESSES_MAX]; /* the agent, chunk servers, memcacheds: in the order of stopping */
  unsigned count;
} processes;

void process_add(processes *all, const char *name, char *const argv[], int space);
/* False, with a message. */
bool process_start(process *p);
/* Those that have ended are told; `again`: they are started after `ticks`. True: one of them ended
 * by itself, not by a signal. */
bool processes_reap(processes *all, bool again, unsigned ticks);
void processes_tick(processes *all);
/* One after the other, with SIGTERM, and SIGKILL for who does not end within some seconds. */
void processes_stop(processes *all);
void processes_free(processes *all);

/* ---- status.c ---- */

/* The agent's answer to `stats`, with zero bytes in place of line ends; its bytes, -1: no answer.
 */
int status_ask(const char *folder, char *text, size_t room);
/* The value of a name in it, or NULL. */
const char *status_find(const char *text, int bytes, const char *name);
/* The command: prints it. */
int status_print(const char *folder);

#endif
