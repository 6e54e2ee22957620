/* call.c: one call of a kernel, and the signals that it may raise instead of returning. */
#define _GNU_SOURCE
#include "machine.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#ifndef HARNESS_WATCHDOG_SECONDS
#define HARNESS_WATCHDOG_SECONDS 120 /* CPU time limit of one sweep */
#endif

enum {
  SIGNAL_STACK_BYTES = 256 * 1024,
};

static struct {
  sigjmp_buf escape;
  volatile bool inside;
  int signal;
  int code;
  enum access access;
  const uint8_t *address;
  uintptr_t instruction;
} fault;
static struct call *current;

static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGVTALRM};
enum { CAUGHT = sizeof caught / sizeof caught[0] };
static struct sigaction previous_actions[CAUGHT];
static stack_t previous_stack;

/* ---- signals ---- */

static void on_signal(int number, siginfo_t *info, void *context) {
  if (!fault.inside) {
    if (number != SIGVTALRM) { /* a bug of the harness or of another library: let it crash */
      signal(number, SIG_DFL);
    }
    return;
  }
  if (number == SIGTRAP && current->stepped && machine_step(current, context)) {
    return;
  }
  fault.inside = false;
  fault.signal = number;
  fault.code = info->si_code;
  fault.address = info->si_addr;
  fault.instruction = machine_instruction(context);
  fault.access = machine_access(context);
  siglongjmp(fault.escape, 1);
}

bool call_begin(void) {
  machine_probe();
  static void *signal_stack;
  if (signal_stack == NULL) {
    void *memory =
        mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return false;
    }
    signal_stack = memory;
  }
  stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK_BYTES};
  if (sigaltstack(&stack, &previous_stack) != 0) {
    return false;
  }
  struct sigaction action = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  for (size_t i = 0; i < CAUGHT; i++) {
    sigaction(caught[i], &action, &previous_actions[i]);
  }
  /* The alarm stops a kernel that never returns; the interval covers an alarm between two calls. */
  struct itimerval timer = {.it_value = {.tv_sec = HARNESS_WATCHDOG_SECONDS},
                            .it_interval = {.tv_sec = 1}};
  return setitimer(ITIMER_VIRTUAL, &timer, NULL) == 0;
}

void call_end(void) {
  struct itimerval off = {.it_value = {0}};
  setitimer(ITIMER_VIRTUAL, &off, NULL);
  for (size_t i = 0; i < CAUGHT; i++) {
    sigaction(caught[i], &previous_actions[i], NULL);
  }
  sigaltstack(&previous_stack, NULL);
}

static void describe_fault(const struct call *call, char *text, size_t size) {
  static const char *const accesses[] = {"reads or writes", "reads", "writes"};
  char where[128], at[64];
  uintptr_t offset = fault.instruction - (uintptr_t)call->code;
  if (offset < 1u << 20) {
    snprintf(at, sizeof at, "at kernel+0x%zx", (size_t)offset);
  } else {
    snprintf(at, sizeof at, "outside of the kernel, at 0x%zx", (size_t)fault.instruction);
  }
  if (fault.signal == SIGVTALRM) {
    snprintf(text, size, "does not return: still %s after %d s", at, HARNESS_WATCHDOG_SECONDS);
  } else if (fault.signal == SIGILL) {
    snprintf(text, size, "illegal instruction (SIGILL) %s", at);
  } else if (fault.signal == SIGSEGV && fault.code == SI_KERNEL) {
    snprintf(text, size, "general protection fault (SIGSEGV) %s", at);
  } else if ((uintptr_t)fault.address == fault.instruction) {
    snprintf(text, size, "leaves the kernel for 0x%zx: that is not its return address",
             (size_t)fault.instruction);
  } else {
    arena_describe(fault.address, where, sizeof where);
    snprintf(text, size, "%s in %s, %s %s", accesses[fault.access], where, strsignal(fault.signal),
             at);
  }
}

bool call_kernel(struct call *call, char *failure, size_t size) {
  uint8_t frame[FRAME_BYTES];
  machine_load(call, frame);
  call->steps = call->trace = 0;
  harness_code = call->code;
  current = call;
  if (sigsetjmp(fault.escape, 0) != 0) {
    describe_fault(call, failure, size);
    return false;
  }
  fault.inside = true;
  harness_trampoline();
  fault.inside = false;
  return machine_check(call, frame, failure, size);
}
