/* Own sockets: those that a provider over TCP has opened for a node. No call of the provider
 * reports them, so they are found among the descriptors of the process by their addresses. */
#ifndef GFC_OWN_SOCKETS_H
#define GFC_OWN_SOCKETS_H

#include <dirent.h>
#include <sys/socket.h>

typedef struct gfc_own_sockets {
  DIR *descriptors;                /* of the process; NULL: no sockets are found */
  struct sockaddr_storage address; /* on which the node listens */
} gfc_own_sockets;

void gfc_own_sockets_open(gfc_own_sockets *sockets, const struct sockaddr_storage *address);
void gfc_own_sockets_close(gfc_own_sockets *sockets);

/* Begin again; then the next socket with the address of the node, or -1. */
void gfc_own_sockets_rewind(gfc_own_sockets *sockets);
int gfc_own_sockets_next(gfc_own_sockets *sockets);

/* The socket with this address that is connected to `peer`, or -1. */
int gfc_own_sockets_between(gfc_own_sockets *sockets, const struct sockaddr_storage *own,
                            const struct sockaddr_storage *peer);

/* Programs that this one executes from now on do not inherit the sockets with the address of the
 * node, and those that are connected to `peer`, if it is not NULL: otherwise they would keep the
 * port and the links after the end of this program. */
void gfc_own_sockets_keep(gfc_own_sockets *sockets, const struct sockaddr_storage *peer);

#endif
