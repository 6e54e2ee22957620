/* Arguments of stripe-agent. */
#ifndef STORE_SETTINGS_H
#define STORE_SETTINGS_H

#include "common/files.h"
#include "common/layout.h"

typedef struct settings {
  const char *folder, *provider, *degraded, *listen_netns, *trace;
  layout_options layout;
  address listen, fabric; /* for clients; for chunk servers */
  uint64_t value_max, memory_max, seed;
  bool auth, tls;
  unsigned deadline_ms, clients_max, idle_s, stall_s;
} settings;

/* False: invalid arguments, with a message. --help ends the process. */
bool settings_parse(settings *o, int argc, char **argv);

#endif
