/* Network namespaces of a thread. */
#ifndef STORE_SPACE_H
#define STORE_SPACE_H

#include <stdbool.h>

/* The network namespace that the calling thread is in, closed on exec; -1: errno. */
int space_here(void);
/* Go into that one; what the thread has opened stays where it is. False: errno. */
bool space_enter(int space);
/* Go into the one that a file names (/run/netns/NAME, /proc/PID/ns/net). False: errno. */
bool space_enter_file(const char *path);

#endif
