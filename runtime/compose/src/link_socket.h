/* The socket of a link: how long the peer has sent nothing, also no part of a message. */
#ifndef GFC_LINK_SOCKET_H
#define GFC_LINK_SOCKET_H

#include <rdma/fi_endpoint.h>
#include <stdint.h>

#include "own_sockets.h"

/* Milliseconds since data arrived at the socket of an endpoint; UINT64_MAX: it was not found. */
uint64_t gfc_link_socket_silence(gfc_own_sockets *sockets, struct fid_ep *ep);

#endif
