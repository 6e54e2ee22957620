/* The cases: each ends the program on failure. */
#ifndef CASES_H
#define CASES_H

/* refused.c */
void mismatches(const char *provider);
void posted_twice(const char *provider);
void memory_limit(const char *provider);
void canceled(const char *provider);
void waiter_canceled(const char *provider);
void deadlines(const char *provider);
void from_callbacks(const char *provider);
void destroyed(const char *provider);
/* invalid.c */
void invalid(const char *provider);
/* damaged.c */
void damaged_payload(const char *provider);
void damaged_messages(const char *provider);
/* triggered.c */
void triggered(const char *provider);
void triggered_in_vain(const char *provider);
/* killed.c; `self`: this program */
void killed(const char *provider, const char *self);
void stopped(const char *provider, const char *self);
void child_main(const char *provider, char **words);

#endif
