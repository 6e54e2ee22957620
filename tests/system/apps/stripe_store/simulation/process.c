/* _GNU_SOURCE is on the command line. This file also takes the place of the system's clocks, of
 * epoll_wait, of the allocator and of the functions that report or end a program. */
#include "process.h"

#include <event2/event.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 1 << 19, EPOCH = 1700000000 };

struct context {
  ucontext_t first; /* before it has run */
  jmp_buf here;     /* where it waits; unlike swapcontext, a jump needs no system call */
  int (*program)(int, char **);
  char **arguments;
};

process *process_current;
void (*process_ran)(process *p);
static jmp_buf scheduler;
static int64_t shift;

typedef struct wake {
  process *process;
  uint64_t turn;
} wake;

static void enter(void) {
  struct context *c = process_current->context;
  int count = 0;
  while (c->arguments[count] != NULL)
    count++;
  optind = 0; /* getopt begins again */
  int status = c->program(count, c->arguments);
  world_trace("%s ends with %d", process_current->name, status);
  process_kill(process_current);
}

/* Let the current process run until it waits. */
static void resume(void) {
  if (_setjmp(scheduler) != 0)
    return;
  if (process_current->turn == 1)
    setcontext(&process_current->context->first);
  _longjmp(process_current->context->here, 1);
}

static void run(process *p) {
  p->turn++;
  p->notified = UINT64_MAX;
  process_current = p;
  resume();
  process_current = NULL;
  process_ran(p);
}

static void stop_running(process *p) {
  if (_setjmp(p->context->here) == 0)
    _longjmp(scheduler, 1);
}

static void on_wake(void *what) {
  wake *w = what;
  if (!w->process->dead && !w->process->paused && w->process->turn == w->turn)
    run(w->process);
  free(w);
}

static void wake_at(process *p, uint64_t when) {
  wake *w = world_new(sizeof *w);
  *w = (wake){p, p->turn};
  world_after(when > world_now() ? when - world_now() : 0, on_wake, w);
}

void process_notify(process *p) {
  uint64_t when = world_now() + world_random(50 * US);
  if (p->dead || p->paused || p == process_current || p->notified <= when)
    return;
  p->notified = when;
  wake_at(p, when);
}

process *process_start(unsigned rank, int (*program)(int, char **), char **arguments) {
  process *p = world_new(sizeof *p);
  p->rank = rank;
  snprintf(p->name, sizeof p->name, rank == 0 ? "agent" : "chunk-%u", rank);
  p->notified = UINT64_MAX;
  p->context = world_new(sizeof *p->context);
  p->context->program = program;
  p->context->arguments = arguments;
  getcontext(&p->context->first);
  void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED)
    world_fail("the simulation has no memory");
  p->context->first.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
  makecontext(&p->context->first, enter, 0);
  world_trace("%s starts", p->name);
  process_notify(p);
  return p;
}

void process_kill(process *p) {
  if (p->dead)
    return;
  p->dead = true;
  world_trace("%s dies", p->name);
  if (p == process_current)
    stop_running(p);
  else
    process_ran(p);
}

uint64_t process_stood(const process *p) {
  return p->stood + (p->paused ? world_now() - p->since : 0);
}

void process_pause(process *p, bool paused) {
  p->stood = process_stood(p);
  p->since = world_now();
  p->paused = paused;
  p->notified = UINT64_MAX;
  process_notify(p);
}

void process_wait(uint64_t until) {
  process *p = process_current;
  if (until != UINT64_MAX)
    wake_at(p, until);
  stop_running(p);
}

void process_sleep(uint64_t duration) {
  uint64_t until = world_now() + duration;
  while (world_now() < until)
    process_wait(until);
}

void process_effect(void) {
  process *p = process_current;
  if (p->doom > 0 && --p->doom == 0)
    process_kill(p);
}

void process_shift_clock(int64_t seconds) { shift += seconds; }

/* ---- the system --------------------------------------------------------------------------- */

int epoll_wait(int fd, struct epoll_event *events, int most, int ms) {
  uint64_t until = ms < 0 ? UINT64_MAX : world_now() + (uint64_t)ms * MS;
  for (;;) {
    int found = (int)syscall(SYS_epoll_wait, fd, events, most, 0);
    if (found != 0 || world_now() >= until)
      return found;
    process_wait(until);
  }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  uint64_t t = world_now();
  bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  time->tv_sec = (time_t)(t / SECOND) + (wall ? EPOCH + shift : 0);
  time->tv_nsec = (long)(t % SECOND);
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec t;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &t);
  *time = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *out) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (out != NULL)
    *out = t.tv_sec;
  return t.tv_sec;
}

/* ---- memory -------------------------------------------------------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_reallocarray(void *old, size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);

static bool fails(void) {
  return process_current != NULL && process_current->starved > 0 &&
         world_chance(process_current->starved);
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }

void *__wrap_calloc(size_t count, size_t bytes) {
  return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
  return fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_reallocarray(void *old, size_t count, size_t bytes) {
  return fails() ? NULL : __real_reallocarray(old, count, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

/* ---- common/report.h and common/stop.h ------------------------------------------------------- */

static void vreport(const char *format, va_list arguments) {
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  world_trace("%s says: %s", process_current->name, text);
}

void __wrap_report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vreport(format, arguments);
  va_end(arguments);
}

int __wrap_refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vreport(format, arguments);
  va_end(arguments);
  return 2;
}

_Noreturn void __wrap_out_of_memory(void) {
  world_trace("%s has no memory", process_current->name);
  process_kill(process_current);
  abort(); /* not reached */
}

typedef struct stop stop;

void stop_begin(stop *s, struct event_base *base) {
  (void)s;
  (void)base;
}

void stop_end(stop *s) { (void)s; }

typedef struct rekey rekey;
typedef struct net net;

void rekey_hold(void) {}

void rekey_begin(rekey *r, struct event_base *base, net *n, const char *folder) {
  (void)r;
  (void)base;
  (void)n;
  (void)folder;
}

void rekey_end(rekey *r) { (void)r; }
