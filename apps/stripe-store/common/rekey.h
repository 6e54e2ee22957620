/* A process reads the shared keys again at each SIGHUP. */
#ifndef STORE_REKEY_H
#define STORE_REKEY_H

#include "net.h"

typedef struct rekey {
  net *net;
  const char *folder;
  struct event *event, *look;
} rekey;
/* Let SIGHUP wait for rekey_begin, instead of ending the process. Call it before the keys are read.
 */
void rekey_hold(void);
void rekey_begin(rekey *r, struct event_base *base, net *n, const char *folder);
void rekey_end(rekey *r);

#endif
