/* What other threads want to have done in the engine's. */
#ifndef GFC_WORK_H
#define GFC_WORK_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

typedef struct gfc_work gfc_work;
struct gfc_work {
  STAILQ_ENTRY(gfc_work) entry;
  void (*work)(void *upper, void *context);
  void *context;
};
typedef STAILQ_HEAD(gfc_work_list, gfc_work) gfc_work_list;

typedef struct gfc_works {
  pthread_mutex_t mutex;
  gfc_work_list list;
  bool closed; /* nothing more is taken */
  int wake;    /* eventfd: readable when the engine has to look */
} gfc_works;

/* GFSMITH_ENOMEM: no descriptor is to be had. */
int gfc_works_create(gfc_works *works);
void gfc_works_destroy(gfc_works *works);
/* Any thread. As gfc_run; `wake`: the engine is not this thread. */
int gfc_works_add(gfc_works *works, void (*work)(void *, void *), void *context, bool wake);
void gfc_works_wake(gfc_works *works); /* any thread */
/* Do what is there, in order. */
void gfc_works_run(gfc_works *works, void *upper);
bool gfc_works_pending(gfc_works *works);
/* Take nothing more from now on. */
void gfc_works_close(gfc_works *works);

#endif
