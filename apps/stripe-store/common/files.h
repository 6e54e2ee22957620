/* The small files in a store's folder: `key` (shared by all processes), `agent` and `client` (the
 * agent's addresses for chunk servers and for clients), `group` (the agent's persistent state).
 */
#ifndef STORE_FILES_H
#define STORE_FILES_H

#include "gfsmith_compose.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { FILES_TEXT = 8192, FILES_PATH = 4096, FILES_WHY = FILES_PATH + 128 };

/* From now on all functions here use this folder, and those below it, even if it is renamed and its
 * path becomes that of another store. One folder for each process. A folder that cannot be opened:
 * later calls fail.
 */
void files_hold(const char *folder);
/* FOLDER, or a path through the descriptor of a held folder. False: too long: errno. */
bool files_folder(char path[FILES_PATH], const char *folder);
/* FOLDER/NAME, or a path through the descriptor of a held folder. False: too long: errno. */
bool files_path(char path[FILES_PATH], const char *folder, const char *name);
/* May only this user and root change a folder? Another user could replace the passwords, or lead a
 * file elsewhere by a symbolic link. False after a report; true if there is no such folder. */
bool files_guarded(const char *folder);
/* Read a file of at most FILES_TEXT - 1 bytes, and append a zero byte. False: errno. */
bool files_read(const char *folder, const char *name, char text[FILES_TEXT]);
/* Has a file been written? If not: errno. */
typedef enum files_written {
  FILES_OLD,      /* no: the old text is unchanged */
  FILES_DOUBTFUL, /* readers find the new text, but perhaps not after a power cut */
  FILES_WRITTEN
} files_written;
/* Write a file through a temporary file, flush and rename: at any time it holds the complete old or
 * new text. */
files_written files_write(const char *folder, const char *name, const char *text, unsigned mode);

/* The path of the folder that contains this one. False: errno. */
bool files_above(char path[FILES_PATH], const char *folder);

/* Flush the names in a folder. False: errno. */
bool files_flush(const char *folder);

/* Lock a file, created if it is missing, until the descriptor is closed. -1: errno; EWOULDBLOCK:
 * another process has locked it. */
int files_lock(const char *folder, const char *name);

/* The users of a store with --auth, a line USER:PASSWORD for each. */
#define FILES_PASSWORDS "passwords"
/* The certificate of an agent with --tls, with those of its issuers, and its private key: PEM. */
#define FILES_CERTIFICATE "tls.crt"
#define FILES_CERTIFICATE_KEY "tls.key"

/* The socket at which the agent serves programs of its user, such as stripe-store, without TLS and
 * login. files_local sets its address, which is valid while the returned descriptor is open: a path
 * through it is short enough for an address. -1: errno. */
#define FILES_LOCAL "local"
int files_local(const char *folder, struct sockaddr_un *at);

/* As files_read, for a file with a secret, of fewer than `room` bytes. False: missing, too long, or
 * readable by other users; why: the message, which files_secret prints. */
bool files_confidential(const char *folder, const char *name, char *text, size_t room,
                        char why[FILES_WHY]);
bool files_secret(const char *folder, const char *name, char text[FILES_TEXT]);
/* "127.0.0.1:4711" or "[::1]:4711". */
typedef struct address {
  char host[64];
  unsigned short port;
} address;
bool address_parse(address *a, const char *text);
void address_text(const address *a, char text[80]);
/* False: the host is not a numeric address. */
bool address_resolve(const address *a, struct sockaddr_storage *to, socklen_t *length);

#endif
