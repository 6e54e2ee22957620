/* run.c: threads that encode stripes, each on its own core, interleaved by time. */
#include "model.h"

#include <stdlib.h>

/* Largest number of events in the window of a core. */
#define WINDOW 1024u

typedef struct thread {
  mm_cpu cpu;
  uint64_t *base;    /* of each shard of the current stripe */
  uint64_t stripe;   /* number of the current stripe of this thread */
  size_t next;       /* event */
  mm_time issued;    /* when the next instruction can enter the window */
  mm_time retired;   /* when all instructions so far have left it */
  uint64_t position; /* instructions so far */
  uint64_t waiting;  /* the number of them that waited for a load */
  uint64_t head, tail;
  uint64_t at[WINDOW];    /* instructions up to an event that may be in the window */
  uint64_t until[WINDOW]; /* the number of them that wait for loads */
  mm_time leaves[WINDOW]; /* when the event leaves */
  mm_time *store;         /* when places of the store buffer are free */
  uint64_t stored;        /* stores so far */
  mm_time warm;           /* when the warm-up stripes were done */
} thread;

static mm_time later(mm_time a, mm_time b) { return a > b ? a : b; }

/* A bijection of [0, 2^bits): every block once, neighbours far apart. */
static uint64_t scatter(uint64_t n, uint64_t bits, uint64_t seed) {
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  for (int round = 0; round < 3; round++) {
    n = (n + seed) & mask;
    n ^= n >> (bits / 2 + 1);
    n = (n * UINT64_C(0x9e3779b97f4a7c15)) & mask;
  }
  return n ^ n >> (bits / 2 + 1);
}

static void place_shards(thread *t, const mm_work *w, uint64_t number) {
  uint64_t stripe = number * w->stripes + t->stripe;
  uint64_t outputs = w->shards - w->inputs, area = w->pitch << w->blocks;
  for (uint64_t j = 0; j < w->inputs; j++)
    t->base[j] = scatter(stripe * w->inputs + j, w->blocks, w->seed) * w->pitch;
  for (uint64_t i = 0; i < outputs; i++)
    t->base[w->inputs + i] =
        area + scatter(stripe * outputs + i, w->blocks, w->seed + 1) * w->pitch;
}

/* An instruction enters when window and scheduler have a free place. The model counts in order: an
 * instruction leaves the scheduler when all earlier ones have left it. */
static mm_time enter(thread *t, const mm_params *p, const mm_event *e) {
  t->issued += e->instructions * p->cycle / p->width;
  t->position += e->instructions;
  t->waiting += e->waiting;
  while (t->tail < t->head && (t->at[t->tail % WINDOW] + p->rob <= t->position ||
                               t->until[t->tail % WINDOW] + p->scheduler <= t->waiting))
    t->issued = later(t->issued, t->leaves[t->tail++ % WINDOW]);
  return t->issued;
}

static void leave(thread *t, mm_time done, mm_time cycles) {
  t->retired = later(t->retired, done) + cycles;
  if (t->head - t->tail == WINDOW)
    t->issued = later(t->issued, t->leaves[t->tail++ % WINDOW]);
  t->at[t->head % WINDOW] = t->position;
  t->until[t->head % WINDOW] = t->waiting;
  t->leaves[t->head++ % WINDOW] = t->retired;
}

/* The time for which a load that begins at `at` holds up the instructions after it, once all
 * earlier ones have left the window, in addition to a hit in the first level. */
static mm_time stall(const thread *t, const mm_params *p, mm_time at, mm_time done) {
  mm_time since = later(t->retired, at) + p->l1_hit * p->cycle;
  return done > since ? done - since : 0;
}

static void step(thread *t, const mm_params *p, const mm_event *e, mm_counts *counts) {
  mm_time at = enter(t, p, e), done = at, begun;
  uint64_t line = (t->base[e->shard] + e->offset) >> LINE_SHIFT;
  switch (e->kind) {
  case MM_LOAD:
    done = mm_cpu_access(&t->cpu, line, MM_LOAD, at, &begun);
    counts->stalled += stall(t, p, at, done);
    break;
  case MM_PREFETCH:
  case MM_PREFETCH_SECOND:
    mm_cpu_access(&t->cpu, line, e->kind, at, &done);
    break;
  case MM_STORE:
  case MM_STREAM: {
    mm_time *place = &t->store[t->stored++ % p->store_buffer];
    done = later(at, *place);
    mm_time out = later(t->retired, done); /* a store goes to memory after it has retired */
    *place = e->kind == MM_STORE ? mm_cpu_access(&t->cpu, line, MM_STORE, out, &begun)
                                 : mm_cpu_stream(&t->cpu, line, out);
    break;
  }
  default:
    break;
  }
  leave(t, done, e->cycles16 * p->cycle / 16);
}

/* Run this thread until it is later than all others, or done. */
static void turn(thread *t, const mm_params *p, const mm_event *events, size_t count,
                 const mm_work *w, uint64_t number, mm_time until, mm_counts *counts) {
  while (t->stripe < w->stripes && t->issued <= until) {
    if (t->next == 0)
      place_shards(t, w, number);
    step(t, p, &events[t->next++], counts);
    counts->events++;
    if (t->next == count) {
      t->next = 0;
      if (++t->stripe == w->warm)
        t->warm = t->retired;
    }
  }
}

/* The thread with the earliest time; *until: the time of the next thread. */
static thread *earliest(thread *threads, const mm_work *w, mm_time *until) {
  thread *first = NULL;
  *until = UINT64_MAX;
  for (thread *t = threads; t < threads + w->threads; t++) {
    if (t->stripe == w->stripes)
      continue;
    if (first == NULL || t->issued < first->issued) {
      if (first != NULL)
        *until = first->issued;
      first = t;
    } else if (t->issued < *until)
      *until = t->issued;
  }
  return first;
}

static void simulate(thread *threads, const mm_params *p, const mm_event *events, size_t count,
                     const mm_work *w, mm_counts *counts) {
  mm_time until;
  thread *t;
  while ((t = earliest(threads, w, &until)) != NULL)
    turn(t, p, events, count, w, (uint64_t)(t - threads), until, counts);
  for (t = threads; t < threads + w->threads; t++) {
    mm_cpu_finish(&t->cpu);
    counts->time = later(counts->time, t->retired);
    counts->rate += (double)(w->stripes - w->warm) * 1e6 / (double)(t->retired - t->warm);
  }
}

static bool thread_create(thread *t, const mm_params *p, const mm_work *w, mm_device *d,
                          mm_counts *counts) {
  bool cpu = mm_cpu_create(&t->cpu, p, d, counts);
  t->base = calloc(w->shards, sizeof *t->base);
  t->store = calloc(p->store_buffer, sizeof *t->store);
  return cpu && t->base != NULL && t->store != NULL;
}

int mm_run(const mm_params *p, const mm_event *events, size_t count, const mm_work *work,
           mm_counts *counts) {
  *counts = (mm_counts){0};
  bool good = p->channels > 0 && p->interleave > 0 && p->line > 0 && p->width > 0 &&
              p->fill_buffers > 0 && p->superqueue > 0 && p->store_buffer > 0 && p->l1_sets > 0 &&
              p->l2_sets > 0 && p->growth > 0 && p->latency >= p->hit && count > 0 &&
              work->threads > 0 && work->warm < work->stripes && p->read > 0 &&
              work->inputs < work->shards &&
              work->shards * work->threads * work->stripes <= UINT64_C(1) << work->blocks;
  mm_device device;
  thread *threads = NULL;
  if (!good)
    return -1;
  good = mm_device_create(&device, p, counts);
  threads = calloc(work->threads, sizeof *threads);
  good = good && threads != NULL;
  for (uint64_t n = 0; good && n < work->threads; n++) {
    good = thread_create(&threads[n], p, work, &device, counts);
    threads[n].issued = n * p->latency / work->threads; /* staggered starts */
  }
  for (size_t n = 0; n < count; n++)
    counts->loaded += events[n].kind == MM_LOAD && events[n].offset % (1u << LINE_SHIFT) == 0;
  counts->loaded *= work->threads * work->stripes;
  if (good)
    simulate(threads, p, events, count, work, counts);
  for (uint64_t n = 0; threads != NULL && n < work->threads; n++) {
    mm_cpu_destroy(&threads[n].cpu);
    free(threads[n].base);
    free(threads[n].store);
  }
  free(threads);
  mm_device_destroy(&device);
  return good ? 0 : -1;
}
