/* Messages for people: one line on stderr each, with the program's name and no time. */
#ifndef STORE_REPORT_H
#define STORE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_REFUSED = 2 };

/* The name that messages begin with: "stripe-agent". */
void report_name(const char *name);
/* One line on stderr. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same; EXIT_REFUSED, so that a caller can return it. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A whole number from least to most; refused with the flag's name otherwise. */
bool parse_number(const char *flag, const char *text, unsigned long long least,
                  unsigned long long most, unsigned long long *value);

#endif
