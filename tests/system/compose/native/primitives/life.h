/* A life of two nodes: they link, send a message, transfer and compute shards, renew the key, and
 * end. In each life another call fails. It ends without a wrong byte and without a leak
 * (LeakSanitizer), and its nodes work again afterwards. */
#ifndef LIFE_H
#define LIFE_H

#include <stdbool.h>

/* Returns true if this call fails. Each call that may fail asks once. */
bool fails(void);
/* Lead lives until all calls of a life have failed once, and print the number of calls and `what`
 * they are. Ends the program on an error. */
void lives_print(const char *what);

#endif
