/* Commands of clients. */
#ifndef STORE_COMMAND_H
#define STORE_COMMAND_H

#include "client.h"

/* Run the request, whose value has arrived; ends with client_over. */
void command_run(client *c);

#endif
