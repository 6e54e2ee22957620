/* The shared keys of all processes: the file `key` in the store's folder. Its first line is the
 * key, an optional second one the previous key, both as hexadecimal digits. A process reads the
 * file when it starts and when it gets SIGHUP. */
#ifndef STORE_KEYS_H
#define STORE_KEYS_H

#include "gfsmith_compose.h"

#include <stdbool.h>

typedef struct keys {
  uint8_t current[GFSMITH_KEY_MAX], previous[GFSMITH_KEY_MAX];
  size_t current_bytes, previous_bytes; /* previous_bytes 0: there is none */
} keys;

/* False, with a message: missing, readable by others, or a line of a wrong form or length. */
bool keys_read(keys *k, const char *folder);
void keys_erase(keys *k);

#endif
