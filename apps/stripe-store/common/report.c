#include "report.h"

#include "numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20 };

static const char *program = "stripe-store";

void report_name(const char *name) { program = name; }

static int output = STDOUT_FILENO, errors = STDERR_FILENO;

/* A terminal that has room for a byte makes a longer write wait. A descriptor that does not wait is
 * opened again, because other programs use the standard streams, too. Without /proc, or with
 * another file there, the stream itself is used. */
static void open_again(int *stream) {
  char path[32];
  struct stat old, fresh;
  snprintf(path, sizeof path, "/proc/self/fd/%d", *stream);
  bool waits = fstat(*stream, &old) == 0 && (S_ISFIFO(old.st_mode) || isatty(*stream) == 1);
  int again = waits ? open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  if (again < 0)
    return;
  if (fstat(again, &fresh) == 0 && fresh.st_dev == old.st_dev && fresh.st_ino == old.st_ino)
    *stream = again;
  else
    close(again);
}

/* The program that has started this one may hold them. */
static void release_signals(void) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGCHLD); /* restarts */
  sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

void report_survive(void) {
  release_signals();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGTTOU, SIG_IGN); /* of a terminal that stops background processes which print (tostop) */
  if (output == STDOUT_FILENO)
    open_again(&output);
  if (errors == STDERR_FILENO)
    open_again(&errors);
}

/* Would a write wait, because a pipe is full or a terminal is stopped? */
static bool would_wait(int stream) {
  struct pollfd room = {.fd = stream, .events = POLLOUT};
  return poll(&room, 1, 0) == 0;
}

/* Print with a single write, so that lines of several processes on one terminal do not mix. */
static void print(const char *format, va_list arguments) {
  char line[1024];
  int at = snprintf(line, sizeof line, "%s: ", program);
  vsnprintf(line + at, sizeof line - (size_t)at, format, arguments);
  if (!would_wait(errors))
    dprintf(errors, "%s\n", line);
}

void report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
}

size_t report_output(const char *text) {
  size_t length = strlen(text);
  if (would_wait(output))
    return 0;
  ssize_t n = write(output, text, length);
  return n >= 0 ? (size_t)n : errno == EAGAIN || errno == EINTR ? 0 : length;
}

int refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
  return EXIT_REFUSED;
}

void out_of_memory(void) { exit(refuse("out of memory")); }

bool parse_number(const char *flag, const char *text, unsigned long long least,
                  unsigned long long most, unsigned long long *value) {
  uint64_t n;
  if (!number_read(text, strlen(text), &n) || n < least || n > most) {
    report("%s %s: must be a whole number from %llu to %llu", flag, text, least, most);
    return false;
  }
  *value = n;
  return true;
}

bool parse_bytes(const char *flag, const char *text, unsigned long long least,
                 unsigned long long most, unsigned long long *value) {
  uint64_t n;
  if (!size_read(text, 1, &n) || n < least || n > most) {
    report("%s %s: must be from %llu to %llu bytes, such as 4096, 64K or 1M", flag, text, least,
           most);
    return false;
  }
  *value = n;
  return true;
}

bool parse_megabytes(const char *flag, const char *text, unsigned long long least,
                     unsigned long long most, unsigned long long *value) {
  uint64_t n;
  if (!size_read(text, MEGABYTE, &n) || n % MEGABYTE != 0 || n / MEGABYTE < least ||
      n / MEGABYTE > most) {
    report("%s %s: must be from %llu to %llu MB, such as 512 or 10G", flag, text, least, most);
    return false;
  }
  *value = n / MEGABYTE;
  return true;
}
