/* stripe-store: starts, monitors and stops the processes of a store on this machine. */
#ifndef STORE_RUN_H
#define STORE_RUN_H

#include "agent/settings.h"
#include "common/files.h"
#include "common/layout.h"
#include "network.h"

#include <event2/event.h>
#include <sys/types.h>

enum { ARGUMENTS_MAX = 64, STRIPES_MAX = 16 };

/* ---- folder.c ---- */

/* Create the folder and its key if they are missing. False: failed, with a message. */
bool folder_make(const char *folder);
/* Create the folder if it is missing, and lock it; -1: failed, with a message. The lock is held
 * until the process ends. `created`: the folder was missing. */
int folder_take(const char *folder, bool *created);
/* Remove a folder with its key, its lock, and the folders of its chunk servers. */
void folder_remove(const char *folder, unsigned nodes);
/* The folder of a chunk server with --disk. False: too long. */
bool disk_path(char path[FILES_PATH], const char *folder, unsigned rank);
/* Were its chunks on disk in the last run? */
bool folder_durable(const char *folder);
/* Has a chunk server had values on disk there, whose disk may not be mounted? Without its folder,
 * the disk is lost. */
bool folder_had_disk(const char *folder, unsigned rank);
/* May only this user and root change the folders of the chunk servers? False after a report. */
bool folder_guarded_disks(const char *folder, unsigned nodes);
/* Remove the files of the last run that the next one must not find. */
void folder_clean(const char *folder, unsigned nodes);
/* Remove the agent's state about memories that end with this run. Return whether there was any. */
bool folder_forget(const char *folder);
/* Is there such a state of an earlier run? */
bool folder_formed(const char *folder);
/* Rename it to group.old: the memories are lost, or on disks that are not there. */
bool folder_retire(const char *folder);
/* Is the folder at this path still the one that has been locked? It may have been renamed, and the
 * path may be that of another store now. */
bool folder_ours(const char *folder, int lock);
/* The process that holds the lock; 0: none. */
pid_t folder_holder(const char *folder);

/* ---- process.c ---- */

typedef struct process {
  char name[48];     /* "memcached 3", "stripe 1: memcached 3" */
  char **argv;       /* owned, with its strings */
  unsigned words;    /* of argv */
  const char *again; /* a further argument, if it is started again after the start; NULL: none */
  int space;         /* network namespace in which it is started; -1: that of this process */
  unsigned stage;    /* it is stopped when all of the stages before have ended */
  pid_t pid;         /* 0: not running */
  unsigned rest;     /* ticks until it is started again */
} process;

typedef struct processes {
  process *at;
  unsigned count, stage; /* stage: that of the processes that are added next */
} processes;

void process_add(processes *all, const char *name, char *const argv[], const char *again,
                 int space);
/* False: failed, with a message. */
bool process_start(process *p);
/* Report the processes that have ended; they are started again after `ticks`, never if that is 0.
 * `starting`: only those that a signal ended, because the others have refused and printed the
 * reason. Return whether one of them is not started again. */
bool processes_reap(processes *all, bool starting, unsigned ticks);
/* Start processes again whose time has come; after `ticks` once more if that fails. */
void processes_tick(processes *all, unsigned ticks);
/* Stop the processes, stage by stage, with SIGTERM, and with SIGKILL after some seconds. */
void processes_stop(processes *all);
void processes_free(processes *all);

/* ---- stripes.c ---- */

/* The memory stripes of a store. Each has k + m + 1 ranks, which are at as many nodes, arranged as
 * in a circle: a node has one rank of each stripe. */
typedef struct store {
  const char *folder;
  char programs[FILES_PATH]; /* the folder of this program, which contains the others */
  settings agent;
  unsigned long long keep, disk, stripes; /* keep, disk: 0: not given */
  bool netns;
  network network;
  processes processes;
} store;

unsigned store_nodes(const store *s); /* k + m */
/* The folder of a stripe: that of the store if there is one stripe. False: too long. */
bool stripe_folder(const store *s, unsigned stripe, char folder[FILES_PATH]);
/* The node, 0 to k + m, at which a rank of a stripe is. */
unsigned stripe_place(const store *s, unsigned stripe, unsigned rank);
/* Can these options be those of several stripes? False: no, with a message. */
bool stripes_allowed(const store *s);
/* Add the processes of all stripes; `options` are those of the agents. */
void stripes_add(store *s, char *options[], int count);
/* Write the addresses for clients, separated by spaces. False: a stripe does not accept values. */
bool stripes_ready(const store *s, char *clients, size_t room);

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
