#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program = "stripe-store";

void report_name(const char *name) { program = name; }

/* Print with a single write, so that lines of several processes on one terminal do not mix. */
static void print(const char *format, va_list arguments) {
  char line[1024];
  int at = snprintf(line, sizeof line, "%s: ", program);
  vsnprintf(line + at, sizeof line - (size_t)at, format, arguments);
  fprintf(stderr, "%s\n", line);
}

void report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
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
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || n < least || n > most) {
    report("%s %s: must be a whole number from %llu to %llu", flag, text, least, most);
    return false;
  }
  *value = n;
  return true;
}
