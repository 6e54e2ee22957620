#include "run.h"

#include "common/report.h"
#include "common/space.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_MS = 10000, STEP_MS = 10 };

void process_add(processes *all, const char *name, char *const argv[], const char *again,
                 int space) {
  process *more = realloc(all->at, (all->count + 1) * sizeof *more);
  unsigned count = 0;
  if (more == NULL)
    abort();
  all->at = more;
  process *p = &all->at[all->count++];
  *p = (process){.again = again, .space = space, .stage = all->stage};
  snprintf(p->name, sizeof p->name, "%s", name);
  while (argv[count] != NULL)
    count++;
  p->words = count;
  p->argv = calloc(count + 2, sizeof *p->argv);
  for (unsigned i = 0; i < count; i++)
    if (p->argv == NULL || (p->argv[i] = strdup(argv[i])) == NULL)
      abort();
}

/* fork() with all signals held: a handler of this process would take a signal that is for the new
 * one. The new process ignores the signals that this one ignores. */
static pid_t fork_held(void) {
  static const int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
  struct sigaction now;
  sigset_t all, none, before;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &all, &before);
  pid_t pid = fork();
  for (size_t i = 0; pid == 0 && i < sizeof handled / sizeof *handled; i++)
    if (sigaction(handled[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      signal(handled[i], SIG_DFL);
  sigprocmask(SIG_SETMASK, pid == 0 ? &none : &before, NULL);
  return pid;
}

bool process_start(process *p) {
  pid_t parent = getpid(), pid = fork_held();
  if (pid < 0) {
    report("cannot start %s: %s", p->name, strerror(errno));
    return false;
  }
  if (pid == 0) {
    setpgid(0, 0); /* Ctrl-C is for this process only, which stops the others in order */
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* no process is left if this one dies */
    if (getppid() == parent && (p->space < 0 || space_enter(p->space)))
      execvp(p->argv[0], p->argv);
    report("cannot run %s: %s", p->argv[0], strerror(errno));
    _exit(127);
  }
  p->pid = pid;
  p->rest = 0;
  return true;
}

/* Has a process that ended with this status printed the reason? 127: it was not found. */
static bool refused(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_REFUSED || WEXITSTATUS(status) == 127);
}

static void tell(const process *p, int status, bool again) {
  const char *then = again ? "; it is started again" : "";
  if (WIFSIGNALED(status))
    report("%s was ended by signal %d%s", p->name, WTERMSIG(status), then);
  else
    report("%s has ended with status %d%s", p->name, WEXITSTATUS(status), then);
}

/* From now on it is started with its further argument. */
static void take_again(process *p) {
  if (p->again != NULL)
    p->argv[p->words] = strdup(p->again); /* NULL: without it */
  p->again = NULL;
}

bool processes_reap(processes *all, bool starting, unsigned ticks) {
  int status;
  pid_t pid;
  bool gone = false;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
    for (unsigned i = 0; i < all->count; i++)
      if (all->at[i].pid == pid) {
        bool again = ticks > 0 && (!starting || WIFSIGNALED(status));
        all->at[i].pid = 0;
        all->at[i].rest = again ? ticks : 0;
        if (!starting)
          take_again(&all->at[i]);
        if (!starting || !refused(status))
          tell(&all->at[i], status, again);
        gone = gone || !again;
      }
  return gone;
}

void processes_tick(processes *all, unsigned ticks) {
  for (unsigned i = 0; i < all->count; i++) {
    process *p = &all->at[i];
    if (p->pid == 0 && p->rest > 0 && --p->rest == 0 && !process_start(p))
      p->rest = ticks;
  }
}

/* Is it one of the stage, and has it not ended? */
static bool runs(process *p, unsigned stage) {
  int status;
  if (p->stage == stage && p->pid != 0 && waitpid(p->pid, &status, WNOHANG) != 0)
    p->pid = 0;
  return p->stage == stage && p->pid != 0;
}

/* Send a signal to those that run; 0: none. Return their number. */
static unsigned signal_stage(processes *all, unsigned stage, int number) {
  unsigned left = 0;
  for (unsigned i = 0; i < all->count; i++)
    if (runs(&all->at[i], stage)) {
      kill(all->at[i].pid, number);
      left++;
    }
  return left;
}

/* All of them have the same time: those that hang do not wait for each other. */
static void stop_stage(processes *all, unsigned stage) {
  const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
  signal_stage(all, stage, SIGTERM);
  for (int ms = 0; signal_stage(all, stage, ms == STOP_MS ? SIGKILL : 0) > 0; ms += STEP_MS)
    nanosleep(&step, NULL);
}

void processes_stop(processes *all) {
  for (unsigned i = 0; i < all->count; i++)
    if (all->at[i].pid != 0)
      kill(all->at[i].pid, SIGCONT); /* so that a stopped process can end, too */
  for (unsigned stage = 0; stage <= all->stage; stage++)
    stop_stage(all, stage);
}

void processes_free(processes *all) {
  for (unsigned i = 0; i < all->count; i++) {
    for (char **each = all->at[i].argv; *each != NULL; each++)
      free(*each);
    free(all->at[i].argv);
  }
  free(all->at);
}
