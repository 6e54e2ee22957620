/* The small files of a store's folder: `key` (shared by all processes), `agent` and `client` (where
 * the agent listens for chunk servers and for clients), `group` (the agent's memory of the group).
 */
#ifndef STORE_FILES_H
#define STORE_FILES_H

#include "gfsmith_compose.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { FILES_TEXT = 8192, FILES_PATH = 4096 };

/* FOLDER/NAME; false, with a message: too long. */
bool files_path(char path[FILES_PATH], const char *folder, const char *name);
/* The text of a file, at most FILES_TEXT - 1 bytes, with a zero byte after it. False: errno. */
bool files_read(const char *folder, const char *name, char text[FILES_TEXT]);
/* Through a temporary file, flushed and renamed: at any time the old or the new text, whole. False:
 * errno, and the old one is still there. */
bool files_write(const char *folder, const char *name, const char *text, unsigned mode);

/* The shared key, as hexadecimal digits in FOLDER/key. False, with a message: not there, readable
 * by others, too short. */
bool files_key(const char *folder, uint8_t key[GFSMITH_KEY_MAX], size_t *bytes);

/* "127.0.0.1:4711" or "[::1]:4711". */
typedef struct address {
  char host[64];
  unsigned short port;
} address;
bool address_parse(address *a, const char *text);
void address_text(const address *a, char text[80]);
/* False: the host is not in numbers. */
bool address_resolve(const address *a, struct sockaddr_storage *to, socklen_t *length);

#endif
