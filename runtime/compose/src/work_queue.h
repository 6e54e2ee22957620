/* The queue of functions that other threads want to run in the engine's thread. */
#ifndef GFC_WORK_QUEUE_H
#define GFC_WORK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

typedef struct gfc_work gfc_work;
struct gfc_work {
  STAILQ_ENTRY(gfc_work) entry;
  void (*work)(void *observer, void *context);
  void *context;
};
typedef STAILQ_HEAD(gfc_work_list, gfc_work) gfc_work_list;

typedef struct gfc_works {
  pthread_mutex_t mutex;
  gfc_work_list list;
  bool closed; /* no more work is accepted */
  int wake;    /* eventfd: readable when the engine must look at the queue */
} gfc_works;

/* GFSMITH_ENOMEM: no file descriptor is left. */
int gfc_works_create(gfc_works *works);
void gfc_works_destroy(gfc_works *works);
/* Append work. Any thread. Returns as gfc_run; `wake`: the caller is not the engine's thread. */
int gfc_works_add(gfc_works *works, void (*work)(void *, void *), void *context, bool wake);
void gfc_works_wake(gfc_works *works); /* any thread */
/* Run the queued work in order, with `observer` as the first argument. */
void gfc_works_run(gfc_works *works, void *observer);
bool gfc_works_pending(gfc_works *works);
/* Accept no more work from now on. */
void gfc_works_close(gfc_works *works);

#endif
