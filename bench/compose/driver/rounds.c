#include "rounds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 60 }; /* seconds: longer than any operation's deadline */

rounds *rounds_map(const char *path, unsigned rank) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0)
    return NULL;
  rounds *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (all == MAP_FAILED || sem_init(&all->go[rank], 1, 0) != 0)
    return NULL;
  return all;
}

uint64_t rounds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wake(rounds *all, uint32_t ranks) {
  for (unsigned rank = 0; rank < RANKS; rank++)
    if (ranks >> rank & 1)
      sem_post(&all->go[rank]);
}

bool rounds_arrive(rounds *all, const roles *roles, unsigned rank, unsigned n) {
  uint32_t wanted = (uint32_t)__builtin_popcount(roles->part);
  if (atomic_fetch_add(&all->round[n].arrived, 1) + 1 == wanted)
    wake(all, roles->leaf);
  if (!(roles->leaf >> rank & 1))
    return !atomic_load(&all->failed);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  int status;
  do
    status = sem_timedwait(&all->go[rank], &until);
  while (status != 0 && errno == EINTR);
  return status == 0 && !atomic_load(&all->failed);
}

void rounds_begun(rounds *all, unsigned n, uint64_t when) {
  uint64_t seen = atomic_load(&all->round[n].start);
  while (when < seen && !atomic_compare_exchange_weak(&all->round[n].start, &seen, when))
    ;
}

void rounds_over(rounds *all, unsigned n, uint64_t when) {
  uint64_t seen = atomic_load(&all->round[n].end);
  while (when > seen && !atomic_compare_exchange_weak(&all->round[n].end, &seen, when))
    ;
}

void rounds_fail(rounds *all) {
  atomic_store(&all->failed, 1);
  wake(all, UINT32_MAX);
}
