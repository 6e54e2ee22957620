/* A process reads the shared keys again at each SIGHUP. */
#ifndef STORE_REKEY_H
#define STORE_REKEY_H

#include "net.h"

typedef struct rekey {
  net *net;
  const char *folder;
  struct event *event, *look;
} rekey;
void rekey_begin(rekey *r, struct event_base *base, net *n, const char *folder);
void rekey_end(rekey *r);

#endif
