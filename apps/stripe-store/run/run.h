/* stripe-store: starts, monitors and stops the processes of a store on this machine. */
#ifndef STORE_RUN_H
#define STORE_RUN_H

#include "common/files.h"
#include "common/layout.h"

#include <event2/event.h>
#include <sys/types.h>

enum { PROCESSES_MAX = 2 * LAYOUT_SHARDS_MAX + 1, ARGUMENTS_MAX = 64 };

/* ---- folder.c ---- */

/* Create the folder and its key if they are missing, and lock the folder; -1: failed, with a
 * message. The lock is held until the process ends. */
int folder_take(const char *folder);
/* Remove the files of the last run that the next one must not find. */
void folder_clean(const char *folder, unsigned nodes);
/* Remove the agent's state about lost memories. Return whether there was any. */
bool folder_forget(const char *folder);
/* The process that holds the lock; 0: none. */
pid_t folder_holder(const char *folder);

/* ---- process.c ---- */

typedef struct process {
  char name[32]; /* "memcached 3" */
  char **argv;   /* owned, with its strings */
  int space;     /* network namespace in which it is started; -1: that of this process */
  pid_t pid;     /* 0: not running */
  unsigned rest; /* ticks until it is started again */
} process;

typedef struct processes {
  process at[PROCESSES_MAX]; /* the agent, chunk servers, memcacheds: in the order of stopping */
  unsigned count;
} processes;

void process_add(processes *all, const char *name, char *const argv[], int space);
/* False: failed, with a message. */
bool process_start(process *p);
/* Report the processes that have ended; `again`: they are started after `ticks`. Return whether one
 * of them ended by itself, not by a signal. */
bool processes_reap(processes *all, bool again, unsigned ticks);
void processes_tick(processes *all);
/* Stop the processes one after the other, with SIGTERM, and with SIGKILL after some seconds. */
void processes_stop(processes *all);
void processes_free(processes *all);

/* ---- status.c ---- */

/* The agent's answer to `stats`, with zero bytes instead of line ends. Return its length; -1: no
 * answer.
 */
int status_ask(const char *folder, char *text, size_t room);
/* The value of a name in the answer, or NULL. */
const char *status_find(const char *text, int bytes, const char *name);
/* The command `status`: print the answer. */
int status_print(const char *folder);

#endif
