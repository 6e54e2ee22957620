/* Strangers at the door. A provider that works over TCP (tcp, sockets) accepts every connection by
 * itself, and waits for its first bytes without end; sockets accepts nobody else meanwhile. There
 * is no call that says so or ends it. So look at the process's own descriptors, from time to time:
 * a TCP connection to the port that we listen on, over which next to nothing has come for as long
 * as a peer has to prove himself, is shut down; the provider then closes it. A peer's first message
 * alone is longer. */
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine.h"

enum {
  FIRST_BYTES = 32,
  STRANGERS_MAX = 64, /* if there are more, they are given less time */
  ESTABLISHED = 1     /* the kernel's number for it */
};

/* Is this a socket of the port that we listen on? */
static bool at_port(const gfc_engine *engine, int fd) {
  struct sockaddr_storage address;
  socklen_t bytes = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
    return false;
  if (address.ss_family == AF_INET)
    return ntohs(((struct sockaddr_in *)&address)->sin_port) == engine->port;
  if (address.ss_family == AF_INET6)
    return ntohs(((struct sockaddr_in6 *)&address)->sin6_port) == engine->port;
  return false;
}

/* Is this a connection over which nothing has come, and for how long? */
static bool silent(int fd, unsigned *ms) {
  struct tcp_info info = {0};
  socklen_t bytes = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0 ||
      bytes < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
    return false;
  *ms = info.tcpi_last_data_recv; /* since it was accepted, if nothing has come */
  return info.tcpi_state == ESTABLISHED && info.tcpi_bytes_received < FIRST_BYTES;
}

/* Shut those down that have been silent for so long. @return all that are silent */
static unsigned look(gfc_engine *engine, unsigned patience) {
  unsigned count = 0;
  rewinddir(engine->descriptors);
  struct dirent *entry;
  while ((entry = readdir(engine->descriptors)) != NULL) {
    char *end;
    unsigned ms = 0;
    int fd = (int)strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || !at_port(engine, fd) || !silent(fd, &ms))
      continue;
    count++;
    if (ms >= patience)
      shutdown(fd, SHUT_RDWR);
  }
  return count;
}

#define OF_TIMER(timer) ((gfc_engine *)((char *)(timer) - offsetof(gfc_engine, gate)))

static void watch(gfc_timer *timer) {
  gfc_engine *engine = OF_TIMER(timer);
  if (look(engine, engine->connect_ms) > STRANGERS_MAX)
    look(engine, engine->connect_ms / 4);
  gfc_timer_start(&engine->timers, timer, gfc_now() + engine->connect_ms / 2 + 1, watch);
}

void gfc_gate_open(gfc_engine *engine) {
  /* Kept open: there may be no descriptor left when it is needed most. */
  engine->descriptors = opendir("/proc/self/fd");
  if (engine->descriptors != NULL && engine->port != 0)
    watch(&engine->gate);
}

/* What listens at our port. -1: not found */
static int listener(gfc_engine *engine) {
  rewinddir(engine->descriptors);
  struct dirent *entry;
  while ((entry = readdir(engine->descriptors)) != NULL) {
    int fd = atoi(entry->d_name), listens = 0;
    socklen_t bytes = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0 &&
        at_port(engine, fd))
      return fd;
  }
  return -1;
}

void gfc_gate_close(gfc_engine *engine) {
  if (engine->descriptors == NULL)
    return;
  /* The provider would forget whom it has accepted and not heard yet, and his descriptor. */
  int fd = listener(engine);
  if (fd >= 0) {
    shutdown(fd, SHUT_RDWR);
    look(engine, 0);
  }
  closedir(engine->descriptors);
}
