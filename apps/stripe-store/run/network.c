#include "network.h"

#include "common/report.h"
#include "common/space.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_IP = 127, NOT_ENTERED = 126, COMMANDS = 16384 };

static const char otherwise[] = "without --netns the store runs over loopback";

void network_address(unsigned rank, char text[NETWORK_ADDRESS]) {
  if (rank == LAYOUT_AGENT)
    snprintf(text, NETWORK_ADDRESS, "%s", NETWORK_AGENT);
  else
    snprintf(text, NETWORK_ADDRESS, "10.0.0.%u", rank);
}

/* Create a namespace, while this process stays in its own; -1: errno. */
static int make_space(int home) {
  if (unshare(CLONE_NEWNET) != 0)
    return -1;
  int space = space_here(), error = errno;
  if (!space_enter(home))
    abort(); /* all further processes would be in the wrong namespace */
  errno = error;
  return space;
}

static bool make_spaces(network *n, unsigned nodes) {
  int home = space_here();
  bool done =
      home >= 0 && space_enter(home); /* without a namespace to return to, this one is not left */
  for (unsigned rank = 0; done && rank <= nodes; rank++)
    done = (n->space[rank] = make_space(home)) >= 0;
  if (!done && errno == EPERM)
    report("--netns: not permitted: CAP_SYS_ADMIN is needed (root, or `unshare -rn`); %s",
           otherwise);
  else if (!done)
    report("--netns: no network namespace: %s; %s", strerror(errno), otherwise);
  if (home >= 0)
    close(home);
  return done;
}

/* Run ip(8) in a namespace. Return its status; its output goes to `said`. */
static int run_ip(int space, int commands, int said) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    if (!space_enter(space) || dup2(commands, 0) < 0 || dup2(said, 2) < 0)
      _exit(NOT_ENTERED);
    execlp("ip", "ip", "-batch", "-", NULL);
    _exit(NO_IP);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                         : NOT_ENTERED;
}

static void tell(int status, int said) {
  char text[256];
  ssize_t bytes = pread(said, text, sizeof text - 1, 0);
  text[bytes < 0 ? 0 : bytes] = '\0';
  text[strcspn(text, "\n")] = '\0';
  if (status == NO_IP)
    report("--netns: the program ip (iproute2) is missing; %s", otherwise);
  else
    report("--netns: ip: %s; %s", text[0] != '\0' ? text : "it failed", otherwise);
}

static bool set_up(int space, const char *text) {
  int commands = memfd_create("commands", MFD_CLOEXEC), said = memfd_create("said", MFD_CLOEXEC);
  size_t bytes = strlen(text);
  int status = NOT_ENTERED;
  if (commands >= 0 && said >= 0 && pwrite(commands, text, bytes, 0) == (ssize_t)bytes)
    status = run_ip(space, commands, said);
  if (status != 0)
    tell(status, said);
  close(commands);
  close(said);
  return status == 0;
}

/* The commands for ip, one per line. */
typedef struct script {
  size_t at;
  char text[COMMANDS];
} script;

static void add(script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(script *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  s->at += (size_t)vsnprintf(s->text + s->at, sizeof s->text - s->at, format, arguments);
  va_end(arguments);
  if (s->at >= sizeof s->text)
    abort(); /* 63 cables need less space */
}

static bool make_switch(const network *n, unsigned nodes) {
  script s = {0};
  add(&s, "link set lo up\nlink add switch type bridge\nlink set switch up\n");
  add(&s, "address add " NETWORK_AGENT "/24 dev switch\n");
  for (unsigned rank = 1; rank <= nodes; rank++) {
    add(&s, "link add node%u type veth peer name node netns /proc/%ld/fd/%d\n", rank,
        (long)getpid(), n->space[rank]);
    add(&s, "link set node%u master switch up\n", rank);
  }
  return set_up(n->space[LAYOUT_AGENT], s.text);
}

static bool make_node(const network *n, unsigned rank) {
  script s = {0};
  char address[NETWORK_ADDRESS];
  network_address(rank, address);
  add(&s, "link set lo up\naddress add %s/24 dev node\nlink set node up\n", address);
  return set_up(n->space[rank], s.text);
}

bool network_make(network *n, unsigned nodes) {
  for (unsigned rank = 0; rank <= LAYOUT_SHARDS_MAX; rank++)
    n->space[rank] = -1;
  bool made = make_spaces(n, nodes) && make_switch(n, nodes);
  for (unsigned rank = 1; made && rank <= nodes; rank++)
    made = make_node(n, rank);
  if (!made)
    network_close(n);
  return made;
}

void network_close(network *n) {
  for (unsigned rank = 0; rank <= LAYOUT_SHARDS_MAX; rank++)
    if (n->space[rank] >= 0)
      close(n->space[rank]);
}
