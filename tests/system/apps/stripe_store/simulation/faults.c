#include "faults.h"

#include "files.h"
#include "memcached.h"
#include "operations.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int agent_main(int argc, char **argv);
int chunk_main(int argc, char **argv);

static shape layout;
static unsigned machines; /* with the agent, number 0 */
static process *running[MACHINES];
static char *arguments[MACHINES][20];
static char texts[MACHINES][128];
static bool calm;
static bool remembering; /* contents of memories */
static unsigned kinds;   /* enabled kinds */
static uint64_t gap;     /* the longest time between two faults */
static unsigned damaged; /* chunks */
static bool beyond;      /* the code's limit, some chunks of one value are damaged */
static unsigned early;   /* machines that lost their memory before there was a group */

static void on_start(void *what) {
  unsigned rank = (unsigned)(uintptr_t)what;
  if (running[rank] == NULL || running[rank]->dead)
    running[rank] = process_start(rank, rank == 0 ? agent_main : chunk_main, arguments[rank]);
}

static void later(void (*run)(void *what), unsigned rank, uint64_t most) {
  world_after(world_random(most), run, (void *)(uintptr_t)rank);
}

/* A supervisor restarts processes that have died. */
static void on_watch(void *what) {
  (void)what;
  for (unsigned rank = 0; rank < machines; rank++)
    if (running[rank] != NULL && running[rank]->dead) {
      network_forget(running[rank], world_chance(800) ? 20 * MS : 4 * SECOND);
      running[rank] = NULL;
      later(on_start, rank, world_chance(700) ? 100 * MS : 1500 * MS);
    }
  world_after(MS, on_watch, NULL);
}

/* Split a command line into the arguments of a machine's process. */
__attribute__((format(printf, 2, 3))) static void prepare(unsigned rank, const char *format, ...) {
  unsigned count = 0;
  va_list values;
  va_start(values, format);
  vsnprintf(texts[rank], sizeof texts[rank], format, values);
  va_end(values);
  for (char *word = strtok(texts[rank], " "); word != NULL; word = strtok(NULL, " "))
    arguments[rank][count++] = word;
}

void machines_start(const shape *s) {
  layout = *s;
  network_begin(&operations_events);
  machines = s->k + s->m + 1;
  prepare(0, "stripe-agent --deadline 1000 --scheme %s -k %u %s store", s->scheme, s->k,
          s->options);
  later(on_start, 0, 10 * MS);
  for (unsigned rank = 1; rank < machines; rank++) {
    prepare(rank, "stripe-chunk --timeout 400 %u store", rank);
    memcached_start(rank);
    later(on_start, rank, 10 * MS);
  }
  on_watch(NULL);
}

/* ---- memories that may be lost --------------------------------------------------------------- */

/* Does the memcached have all values, according to the agent's group? */
static bool whole(unsigned rank) {
  char name[24], in_group[33] = "";
  const char *text = disk_text("group"), *line, *own = memcached_incarnation(rank);
  if (text == NULL)
    return !(early >> rank & 1); /* the agent may just have heard of the lost one */
  snprintf(name, sizeof name, "node %u ", rank);
  line = strstr(text, name);
  if (line != NULL)
    snprintf(in_group, sizeof in_group, "%.32s", line + strlen(name));
  return own != NULL && strcmp(own, in_group) == 0;
}

static bool may_lose(unsigned rank) {
  unsigned lost = damaged;
  for (unsigned other = 1; other < machines; other++)
    lost += other != rank && !whole(other);
  return lost < layout.bearable;
}

/* ---- faults
 * -------------------------------------------------------------------------------------- */

static unsigned any(void) { return (unsigned)world_random(machines); }

static unsigned any_chunk(void) { return 1 + (unsigned)world_random(machines - 1); }

static uint64_t a_while(void) {
  static const uint64_t most[] = {300 * MS, 300 * MS, 300 * MS, 3 * SECOND, 3 * SECOND, 8 * SECOND};
  return world_between(MS, most[world_random(6)]);
}

static void kill_process(unsigned rank) {
  process *p = running[rank];
  if (p == NULL || p->dead)
    return;
  if (world_chance(500))
    p->doom = 1 + (unsigned)world_random(40);
  else
    process_kill(p);
}

static void on_memcached(void *what) {
  unsigned rank = (unsigned)(uintptr_t)what;
  if (!memcached_runs(rank))
    memcached_start(rank);
}

static void tell(void *what) { /* the chunk server's connection is closed */
  unsigned rank = (unsigned)(uintptr_t)what;
  if (running[rank] != NULL)
    process_notify(running[rank]);
}

static bool lose_memory(unsigned rank) {
  if (!may_lose(rank))
    return false;
  early |= disk_text("group") == NULL ? 1u << rank : 0;
  memcached_kill(rank);
  later(tell, rank, MS);
  later(on_memcached, rank, SECOND);
  return true;
}

static void on_continue(void *what) { process_pause(what, false); }

static void pause_process(unsigned rank) {
  process *p = running[rank];
  if (p == NULL || p->dead || p->paused)
    return;
  process_pause(p, true);
  world_after(a_while(), on_continue, p);
}

static void on_memcached_continue(void *what) { memcached_pause((unsigned)(uintptr_t)what, false); }

static void pause_memcached(unsigned rank) {
  if (!memcached_runs(rank))
    return;
  memcached_pause(rank, true);
  world_after(a_while(), on_memcached_continue, (void *)(uintptr_t)rank);
}

typedef struct way {
  uint16_t from, to;
} way;

static void on_unblock(void *what) {
  const way *w = what;
  network_block(w->from, w->to, false);
}

static void block(unsigned a, unsigned b, uint64_t duration) {
  way *w = world_new(sizeof *w);
  *w = (way){(uint16_t)a, (uint16_t)b};
  network_block(w->from, w->to, true);
  world_after(duration, on_unblock, w);
}

static void part(unsigned a, unsigned b) {
  uint64_t duration = a_while();
  block(a, b, duration);
  if (world_chance(800)) /* otherwise one direction only */
    block(b, a, duration);
  if (world_chance(400))
    network_break((uint16_t)a, (uint16_t)b, duration);
}

static void isolate(unsigned a) {
  uint64_t duration = a_while();
  for (unsigned b = 0; b < machines; b++)
    if (b != a) {
      block(a, b, duration);
      block(b, a, duration);
    }
}

static void on_room(void *what) { memcached_fill((unsigned)(uintptr_t)what, false); }

static void on_disk(void *what) {
  (void)what;
  disk_fill(false);
}

static void on_fed(void *what) { ((process *)what)->starved = 0; }

static void starve(unsigned rank) {
  process *p = running[rank];
  if (p == NULL || p->dead)
    return;
  p->starved = world_chance(500) ? 20 : 200;
  world_after(a_while() / 4, on_fed, p);
}

enum {
  KILL_CHUNK,
  KILL_MEMCACHED,
  KILL_MACHINE,
  KILL_AGENT,
  PAUSE,
  PAUSE_MEMCACHED,
  BREAK,
  PART,
  ISOLATE,
  FULL,
  DISK,
  CLOCK,
  STARVE,
  DAMAGE,
  KINDS
};

static const char *const names[] = {
    "kill chunk server", "kill memcached", "kill machine", "kill agent", "pause",
    "pause memcached",   "break link",     "part",         "isolate",    "fill memcached",
    "fill disk",         "shift clock",    "starve",       "damage"};

static bool strike(unsigned kind, unsigned rank) {
  switch (kind) {
  case KILL_CHUNK:
    kill_process(rank);
    return true;
  case KILL_MEMCACHED:
    return lose_memory(rank);
  case KILL_MACHINE:
    if (!lose_memory(rank))
      return false;
    kill_process(rank);
    return true;
  case KILL_AGENT:
    kill_process(0);
    return true;
  case PAUSE:
    pause_process(any());
    return true;
  case PAUSE_MEMCACHED:
    pause_memcached(rank);
    return true;
  case BREAK:
    network_break((uint16_t)rank, (uint16_t)world_random(rank), 50 * MS);
    return true;
  case PART:
    part(rank, (unsigned)world_random(rank));
    return true;
  case ISOLATE:
    isolate(any());
    return true;
  case FULL:
    memcached_fill(rank, true);
    later(on_room, rank, 2 * SECOND);
    return true;
  case DISK:
    disk_fill(true);
    later(on_disk, 0, 2 * SECOND);
    return true;
  case CLOCK:
    process_shift_clock((int64_t)world_random(200000) - 100000);
    return true;
  case STARVE:
    starve(any());
    return true;
  default:
    if (beyond)
      return memcached_damage_value(layout.bearable + 1);
    if (damaged > 0 || !may_lose(rank) || !memcached_damage(rank))
      return false;
    damaged = 1;
    return true;
  }
}

static void on_fault(void *what) {
  unsigned kind, rank = any_chunk();
  (void)what;
  if (calm)
    return;
  do
    kind = (unsigned)world_random(KINDS);
  while (!(kinds >> kind & 1));
  if (strike(kind, rank)) {
    world_trace("fault: %s %u", names[kind], rank);
    world_counts.faults++;
  }
  world_after(world_random(gap), on_fault, NULL);
}

void faults_begin(bool harsh) {
  beyond = harsh;
  memcached_begin(layout.k + layout.m - layout.bearable, harsh);
  kinds = (unsigned)(world_chance(500) ? world_random(1u << KINDS) | world_random(1u << KINDS)
                                       : world_random(1u << KINDS) & world_random(1u << KINDS));
  if (world_is_wide()) /* the model has no times of expiry by a clock that jumps */
    kinds &= ~(1u << CLOCK);
  if (kinds == 0)
    kinds = 1u << KILL_AGENT | 1u << KILL_CHUNK;
  if (beyond)
    kinds |= 1u << DAMAGE;
  gap = world_between(50 * MS, 300 * MS);
  if (kinds >> KILL_AGENT & 1) /* a recovery with few lists may find no memory for records */
    kinds &= ~(1u << FULL);
  on_fault(NULL);
}

void faults_end(void) {
  calm = true;
  network_unblock_all();
  disk_fill(false);
  for (unsigned rank = 0; rank < machines; rank++) {
    if (rank > 0) {
      memcached_fill(rank, false);
      on_memcached((void *)(uintptr_t)rank);
      memcached_pause(rank, false);
    }
    if (running[rank] != NULL) {
      running[rank]->starved = running[rank]->doom = 0;
      process_pause(running[rank], false);
    }
  }
}

static void on_remember(void *what) {
  (void)what;
  if (!remembering)
    return;
  memcached_remember(any_chunk());
  world_after(world_random(20 * MS), on_remember, NULL);
}

void faults_remember(void) {
  remembering = true;
  for (unsigned rank = 1; rank < machines; rank++)
    memcached_remember(rank);
  on_remember(NULL);
}

void faults_go_back(void) {
  unsigned old = damaged;
  remembering = false;
  memcached_begin(0, false); /* no value may be lost */
  for (unsigned rank = 0; rank < machines; rank++) {
    if (running[rank] != NULL && !running[rank]->dead)
      process_kill(running[rank]);
    if (running[rank] != NULL)
      network_forget(running[rank], 20 * MS);
    running[rank] = NULL;
    later(on_start, rank, 50 * MS); /* all of them before the recovery has enough lists */
  }
  for (uint64_t first = world_random(machines - 1), i = 0; i < machines - 1; i++) {
    unsigned rank = 1 + (unsigned)((first + i) % (machines - 1));
    if (old < layout.bearable && memcached_restore(rank)) {
      world_trace("fault: older content %u", rank);
      world_counts.faults++;
      old++;
    }
  }
}

void faults_audit(void) {
  memcached_begin(0, false); /* no value may be lost */
  for (unsigned lost = damaged; lost < layout.bearable;) {
    unsigned rank = any_chunk();
    if (!memcached_runs(rank))
      continue;
    world_trace("fault: audit %u", rank);
    memcached_kill(rank);
    later(tell, rank, MS);
    if (world_chance(500))
      kill_process(rank);
    lost++;
  }
}
