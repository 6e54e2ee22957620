/* Exit statuses and one-line messages. */
#ifndef STRIPE_REPORT_H
#define STRIPE_REPORT_H

enum {
  STRIPE_OK = 0,
  STRIPE_WRONG = 1,  /* verify, info: shards are damaged or missing */
  STRIPE_REFUSED = 2 /* the command was not carried out; nothing was changed */
};

#if defined(__GNUC__)
#define STRIPE_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define STRIPE_PRINTF
#endif

/* Print one line "stripe: ..." on stderr; return STRIPE_REFUSED. Control bytes are replaced by '?',
 * since file names from headers are untrusted. */
int refuse(const char *format, ...) STRIPE_PRINTF;

/* Print one line on stdout, with the same replacement. */
void say(const char *format, ...) STRIPE_PRINTF;

/* Catch SIGINT, SIGTERM and SIGHUP: they only set a flag. The loops check it, remove their
 * temporary files and return. report_interrupted() returns the signal, or 0. */
void report_catch_signals(void);
int report_interrupted(void);
/* End the process by the caught signal, so that the parent process gets the cause. */
void report_die_by_signal(void);

#endif
