/* Idle sockets: TCP connections of unknown programs that connect and send nothing.
 *
 * A provider over TCP (tcp, sockets) accepts every connection by itself, and waits for its first
 * bytes without a limit; sockets accepts no other connection meanwhile. No call of the provider
 * reports or ends such a connection. Therefore the engine regularly inspects the descriptors of the
 * process: it shuts down a TCP connection to the address of the node that has received almost
 * nothing during the time in which a peer has to prove itself, and then the provider closes it. The
 * first message of a peer alone is longer than the limit. */
#ifndef GFC_IDLE_SOCKETS_H
#define GFC_IDLE_SOCKETS_H

#include "own_sockets.h"
#include "timer.h"

typedef struct gfc_idle_sockets {
  gfc_timers *timers;
  gfc_timer timer;
  gfc_own_sockets *own;
  unsigned connect_ms;
} gfc_idle_sockets;

/* Begin. The structure is zero before; it belongs to the thread that runs the timers. */
void gfc_idle_sockets_watch(gfc_idle_sockets *sockets, gfc_timers *timers, gfc_own_sockets *own,
                            unsigned connect_ms);
/* Shut down the listening socket and all silent connections. */
void gfc_idle_sockets_end(gfc_idle_sockets *sockets);

#endif
