/* The agent's requests. */
#ifndef STORE_REQUEST_H
#define STORE_REQUEST_H

#include "server.h"

void request_handle(server *s, uint16_t rank, const message *m);

#endif
