#include "work_queue.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "gfsmith_compose.h"

int gfc_works_create(gfc_works *works) {
  *works = (gfc_works){.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  STAILQ_INIT(&works->list);
  if (works->wake < 0)
    return GFSMITH_ENOMEM;
  if (pthread_mutex_init(&works->mutex, NULL) == 0)
    return GFSMITH_OK;
  close(works->wake);
  return GFSMITH_ENOMEM;
}

void gfc_works_destroy(gfc_works *works) {
  pthread_mutex_destroy(&works->mutex);
  close(works->wake);
}

void gfc_works_wake(gfc_works *works) {
  uint64_t one = 1;
  int cancel;
  /* A thread that is cancelled here would leave work that nothing wakes the engine for. */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  /* The write fails only if the descriptor is readable already. */
  ssize_t written = write(works->wake, &one, sizeof one);
  (void)written;
  pthread_setcancelstate(cancel, NULL);
}

int gfc_works_add(gfc_works *works, void (*work)(void *, void *), void *context, bool wake) {
  gfc_work *added = malloc(sizeof *added);
  if (added == NULL)
    return GFSMITH_ENOMEM;
  added->work = work;
  added->context = context;
  pthread_mutex_lock(&works->mutex);
  bool closed = works->closed, first = STAILQ_EMPTY(&works->list);
  if (!closed)
    STAILQ_INSERT_TAIL(&works->list, added, entry);
  pthread_mutex_unlock(&works->mutex);
  if (closed) {
    free(added);
    return GFSMITH_ECANCELED;
  }
  if (wake && first)
    gfc_works_wake(works);
  return GFSMITH_OK;
}

void gfc_works_run(gfc_works *works, void *observer) {
  gfc_work_list taken = STAILQ_HEAD_INITIALIZER(taken);
  pthread_mutex_lock(&works->mutex);
  STAILQ_CONCAT(&taken, &works->list);
  pthread_mutex_unlock(&works->mutex);
  while (!STAILQ_EMPTY(&taken)) {
    gfc_work *first = STAILQ_FIRST(&taken);
    STAILQ_REMOVE_HEAD(&taken, entry);
    first->work(observer, first->context);
    free(first);
  }
}

void gfc_works_close(gfc_works *works) {
  pthread_mutex_lock(&works->mutex);
  works->closed = true;
  pthread_mutex_unlock(&works->mutex);
}

bool gfc_works_pending(gfc_works *works) {
  pthread_mutex_lock(&works->mutex);
  bool any = !STAILQ_EMPTY(&works->list);
  pthread_mutex_unlock(&works->mutex);
  return any;
}
