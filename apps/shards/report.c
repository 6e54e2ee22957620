#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static bool muted;

/* Terminals take the controls U+0080 to U+009F in UTF-8, such as CSI, for the beginnings of
 * commands, too. */
static bool is_control(const char *c) {
  unsigned char one = (unsigned char)c[0], next = (unsigned char)c[one == 0xc2];
  return one < 0x20 || one == 0x7f || (one == 0xc2 && next >= 0x80 && next < 0xa0);
}

static void print_line(FILE *stream, const char *prefix, const char *format, va_list arguments) {
  char line[8192];
  vsnprintf(line, sizeof line, format, arguments);
  for (char *c = line; *c != '\0'; c++)
    if (is_control(c)) {
      c[(unsigned char)*c == 0xc2] = '?'; /* its second byte */
      *c = '?';
    }
  fprintf(stream, "%s%s\n", prefix, line);
}

int refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(stderr, "gfsmith-shards: ", format, arguments);
  va_end(arguments);
  return TOOL_REFUSED;
}

void report_mute(void) { muted = true; }

void say(const char *format, ...) {
  va_list arguments;
  if (muted)
    return;
  va_start(arguments, format);
  print_line(stdout, "", format, arguments);
  va_end(arguments);
}

static int wake[2] = {-1, -1}; /* a pipe that becomes readable by a signal */

static void remember(int signal_number) {
  int before = errno;
  caught = signal_number;
  ssize_t n = write(wake[1], "", 1); /* fails if the pipe is full, and then it is readable, too */
  (void)n;
  errno = before;
}

void report_catch_signals(void) {
  const int wanted[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action;
  if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
    exit(refuse("cannot create a pipe: %s", strerror(errno)));
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  action.sa_handler = remember; /* no SA_RESTART: a blocked read or write must return */
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    struct sigaction before;
    /* nohup and background jobs ignore some of these signals, which must stay so. */
    if (sigaction(wanted[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(wanted[i], &action, NULL);
  }
  action.sa_handler =
      SIG_IGN; /* a full disk, and a reader that has closed the pipe, become errors of write */
  sigaction(SIGXFSZ, &action, NULL);
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGIO, &action, NULL); /* of a lease that another program ends */
  action.sa_handler = SIG_DFL;     /* if it is ignored, the status of tar is lost */
  sigaction(SIGCHLD, &action, NULL);
}

int report_interrupted(void) { return caught; }

static void wait_for(int fd, short event) {
  struct pollfd both[2] = {{.fd = fd, .events = event}, {.fd = wake[0], .events = POLLIN}};
  while (!caught && poll(both, 2, -1) < 0 && errno == EINTR)
    ;
}

void report_wait_readable(int fd) { wait_for(fd, POLLIN); }

void report_wait_writable(int fd) { wait_for(fd, POLLOUT); }

void report_die_by_signal(void) {
  signal(caught, SIG_DFL);
  fflush(stdout); /* its lines name the changes */
  raise(caught);
}
