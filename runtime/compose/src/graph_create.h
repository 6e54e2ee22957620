/* Creation of a graph: check the request, read the matrix of the codec, plan, lay out, check the
 * result. It needs only the core library, so that the command `gfsmith graph` can use it without
 * libsodium and libfabric. */
#ifndef GFC_GRAPH_CREATE_H
#define GFC_GRAPH_CREATE_H

#include "graph.h"

/* As gfsmith_graph_create, except for the hash, which remains 0. */
int gfc_graph_create(gfsmith_graph **out, const gfsmith_graph_request *request, char *reason);

#endif
