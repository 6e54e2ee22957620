/* Authentication of clients, as memcached's with `-Y FILE`: the first command is a `set` of any
 * key, whose value is "USER PASSWORD". */
#ifndef STORE_LOGIN_H
#define STORE_LOGIN_H

#include "client.h"

/* Can the passwords be read? False after a message. */
bool login_open(agent *a);
/* May the client's command run? False: it was the authentication, or it was refused; client_over
 * has been called. */
bool login_done(client *c);

#endif
