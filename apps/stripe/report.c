#include "report.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void print_line(FILE *stream, const char *prefix, const char *format, va_list arguments) {
  char line[8192];
  vsnprintf(line, sizeof line, format, arguments);
  for (char *c = line; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f)
      *c = '?';
  fprintf(stream, "%s%s\n", prefix, line);
}

int refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(stderr, "stripe: ", format, arguments);
  va_end(arguments);
  return STRIPE_REFUSED;
}

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(stdout, "", format, arguments);
  va_end(arguments);
}

static void remember(int signal_number) { caught = signal_number; }

void report_catch_signals(void) {
  const int wanted[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action;
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
      SIG_IGN; /* exceeding the file size limit becomes an error of write, like a full disk */
  sigaction(SIGXFSZ, &action, NULL);
}

int report_interrupted(void) { return caught; }

void report_die_by_signal(void) {
  signal(caught, SIG_DFL);
  raise(caught);
}
