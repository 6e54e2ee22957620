/* The network namespace of a thread. */
#ifndef STORE_SPACE_H
#define STORE_SPACE_H

#include <stdbool.h>

/* The network namespace of the calling thread, closed on exec; -1: errno. */
int space_here(void);
/* Enter a namespace; open sockets stay in their own. False: errno. */
bool space_enter(int space);
/* Enter the namespace that a file names (/run/netns/NAME, /proc/PID/ns/net). False: errno. */
bool space_enter_file(const char *path);

#endif
