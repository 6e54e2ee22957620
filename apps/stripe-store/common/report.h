/* Messages for users: one line on stderr each, with the program's name and no time. */
#ifndef STORE_REPORT_H
#define STORE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_REFUSED = 2 };

/* Set the name at the beginning of messages, e.g. "stripe-agent". */
void report_name(const char *name);
/* Let writes to a closed pipe, or beyond a limit of the size of files, fail instead of ending the
 * program, and messages to a pipe or terminal whose reader has stopped be lost instead of stopping
 * it. Take SIGTERM, SIGINT and SIGCHLD, also if the program that has started this one blocks them.
 * The standard streams must be open. */
void report_survive(void);
/* Print one line on stderr; nothing if its reader has stopped, since the program would wait for it.
 */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Write to stdout as much of a text as it takes without waiting. Return this number of bytes; all
 * if it takes none any more. */
size_t report_output(const char *text);
/* Print one line on stderr; return EXIT_REFUSED, which the caller can return. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* At the start of a program: end it with a message and EXIT_REFUSED. */
_Noreturn void out_of_memory(void);
/* Parse a whole number from least to most; otherwise print a message that names the flag. */
bool parse_number(const char *flag, const char *text, unsigned long long least,
                  unsigned long long most, unsigned long long *value);
/* The same for bytes, with or without a unit: 4096, 64K, 1M, 2G. */
bool parse_bytes(const char *flag, const char *text, unsigned long long least,
                 unsigned long long most, unsigned long long *value);
/* The same for MB: 512, or with a unit 512M, 10G. */
bool parse_megabytes(const char *flag, const char *text, unsigned long long least,
                     unsigned long long most, unsigned long long *value);

#endif
