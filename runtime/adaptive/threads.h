/* threads.h: how many threads encode, from what each leaves behind when it times a call. */
#ifndef GFS_THREADS_H
#define GFS_THREADS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "watch.h"

/* Threads that are counted; more share places and count as fewer. */
enum { GFS_THREADS_MAX = 256 };

/* Cells that a thread watches at the same time, by the last bits of their number. */
enum { GFS_WATCHES = 8 };

/* A place is one cache line, so that threads do not take it from each other. */
typedef struct gfs_place {
  _Atomic uint32_t until_ms; /* the thread counts until then; 0: the place is free */
  char apart[60];
} gfs_place;

typedef struct gfs_threads {
  gfs_place place[GFS_THREADS_MAX];
  _Atomic uint32_t places;  /* that were ever taken */
  _Atomic uint32_t tickets; /* threads so far */
} gfs_threads;

typedef struct gfs_watched {
  gfs_watch watch;
  unsigned cell;
  uint32_t searches; /* of the cell when watching began */
} gfs_watched;

/* What a thread knows of itself. */
typedef struct gfs_thread {
  uint32_t owner;  /* the coordinator that the rest is for; 0: none */
  uint32_t ticket; /* no other thread of this coordinator has it; from 1 */
  /* The call before: most have the cell of the one before. */
  uint32_t map, conditions; /* parts of its cell's key; map 0: none */
  size_t len;
  struct gfs_cell *cell;
  gfs_batch batch;  /* of the search that it drives */
  uint32_t last_ms; /* when a call was timed */
  gfs_place *place;
  gfs_watched watched[GFS_WATCHES];
} gfs_thread;

/* Enter a thread that is new to the coordinator. */
void gfs_threads_enter(gfs_threads *threads, gfs_thread *thread, uint32_t owner, uint32_t now_ms);

/* The thread is here: it counts until it has been away four times as long as since it was here
 * last, but for at least idle_ms and at most 16 times that. */
void gfs_threads_stamp(gfs_thread *thread, uint32_t now_ms, uint32_t idle_ms);

/* How many count. At least 1. */
unsigned gfs_threads_count(const gfs_threads *threads, uint32_t now_ms);

#endif
