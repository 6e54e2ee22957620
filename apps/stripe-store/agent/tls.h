/* TLS for clients (--tls), with libevent's streams over OpenSSL. */
#ifndef STORE_TLS_H
#define STORE_TLS_H

#include "agent.h"

#include <event2/bufferevent.h>

/* Read the certificate and its private key from the folder, now and at each SIGHUP, for the
 * connections from then on. False: failed, with a message. */
bool tls_open(agent *a);
void tls_close(agent *a);
/* The stream of an accepted connection. NULL: no memory; the connection remains open. */
struct bufferevent *tls_stream(agent *a, evutil_socket_t fd);
/* Tell the client that no more answers follow; else it would have to assume an attack. */
void tls_end(struct bufferevent *stream);

#endif
