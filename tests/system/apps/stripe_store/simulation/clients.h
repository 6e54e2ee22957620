/* Clients of the agent, over Unix sockets. */
#ifndef SIMULATION_CLIENTS_H
#define SIMULATION_CLIENTS_H

#include "process.h"

/* Begin to send random commands. */
void clients_begin(void);
/* The same again, after a rest. */
void clients_go_on(void);
/* End that, and store a value until it is accepted. */
void clients_rest(void);
bool clients_rested(void);
/* Read every key once with each client, and require an answer. */
void clients_read_all(void);
bool clients_have_read(void);
int clients_keys(void);
/* Number of acknowledged deletions. */
unsigned clients_deletions(void);
/* The last error, for messages. */
const char *clients_error(void);

#endif
