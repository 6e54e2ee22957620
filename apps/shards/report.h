/* Exit statuses and one-line messages. */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include <stdbool.h>

enum {
  TOOL_OK = 0,
  TOOL_WRONG = 1,  /* verify, info: shards are damaged or missing */
  TOOL_REFUSED = 2 /* refused or failed; a line on stdout names each change that was made */
};

#if defined(__GNUC__)
#define TOOL_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define TOOL_PRINTF
#endif

/* Print one line "gfsmith-shards: ..." on stderr; return TOOL_REFUSED. Control bytes are replaced
 * by '?', since file names from headers are untrusted. */
int refuse(const char *format, ...) TOOL_PRINTF;

/* Print one line on stdout, with the same replacement; nothing after report_mute(). */
void say(const char *format, ...) TOOL_PRINTF;
/* With --json, and if the restored bytes go to stdout. */
void report_mute(void);

/* Catch SIGINT, SIGTERM and SIGHUP: they only set a flag. The loops check it, remove their
 * temporary files and return. report_interrupted() returns the signal, or 0. */
void report_catch_signals(void);
int report_interrupted(void);
/* Wait until a pipe can be read or written, or a signal comes; a signal between a check and a read
 * is not missed. */
void report_wait_readable(int fd);
void report_wait_writable(int fd);
/* End the process by the caught signal, so that the parent process gets the cause. */
void report_die_by_signal(void);

#endif
