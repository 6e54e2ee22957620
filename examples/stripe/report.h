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

/* One line "stripe: ..." on stderr; returns STRIPE_REFUSED. Control bytes print as '?', since file
 * names out of headers may be hostile. */
int refuse(const char *format, ...) STRIPE_PRINTF;

/* One line on stdout, control bytes replaced likewise. */
void say(const char *format, ...) STRIPE_PRINTF;

/* SIGINT, SIGTERM and SIGHUP only set a flag; the loops look at it, drop their temporary files and
 * return. report_interrupted() is that signal, or 0. */
void report_catch_signals(void);
int report_interrupted(void);
/* Ends the process by the signal that was caught, so that the caller sees why. */
void report_die_by_signal(void);

#endif
