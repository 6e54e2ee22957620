#include "idle_sockets.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
  FIRST_BYTES = 32,
  SILENT_MAX = 64, /* with more of them, the time limit is shorter */
  ESTABLISHED = 1  /* the kernel's number for this TCP state */
};

/* Is this a socket of the port on which the node listens? */
static bool at_port(const gfc_idle_sockets *sockets, int fd) {
  struct sockaddr_storage address;
  socklen_t bytes = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
    return false;
  if (address.ss_family == AF_INET)
    return ntohs(((struct sockaddr_in *)&address)->sin_port) == sockets->port;
  if (address.ss_family == AF_INET6)
    return ntohs(((struct sockaddr_in6 *)&address)->sin6_port) == sockets->port;
  return false;
}

/* Is this a connection that has received almost nothing? Get the time since then in
 * milliseconds. */
static bool silent(int fd, unsigned *ms) {
  struct tcp_info info = {0};
  socklen_t bytes = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0 ||
      bytes < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
    return false;
  *ms = info.tcpi_last_data_recv; /* since it was accepted, if no data have arrived */
  return info.tcpi_state == ESTABLISHED && info.tcpi_bytes_received < FIRST_BYTES;
}

/* Shut down the connections that have been silent for `patience` milliseconds. @return the number
 * of silent connections */
static unsigned shut_down_silent(gfc_idle_sockets *sockets, unsigned patience) {
  unsigned count = 0;
  rewinddir(sockets->descriptors);
  struct dirent *entry;
  while ((entry = readdir(sockets->descriptors)) != NULL) {
    char *end;
    unsigned ms = 0;
    int fd = (int)strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || !at_port(sockets, fd) || !silent(fd, &ms))
      continue;
    count++;
    if (ms >= patience)
      shutdown(fd, SHUT_RDWR);
  }
  return count;
}

#define OF_TIMER(address)                                                                          \
  ((gfc_idle_sockets *)((char *)(address) - offsetof(gfc_idle_sockets, timer)))

static void watch(gfc_timer *timer) {
  gfc_idle_sockets *sockets = OF_TIMER(timer);
  if (shut_down_silent(sockets, sockets->connect_ms) > SILENT_MAX)
    shut_down_silent(sockets, sockets->connect_ms / 4);
  gfc_timer_start(sockets->timers, timer, gfc_now() + sockets->connect_ms / 2 + 1, watch);
}

void gfc_idle_sockets_watch(gfc_idle_sockets *sockets, gfc_timers *timers, uint16_t port,
                            unsigned connect_ms) {
  sockets->timers = timers;
  sockets->port = port;
  sockets->connect_ms = connect_ms;
  /* The directory stays open, because there may be no free descriptor when it is needed. */
  sockets->descriptors = opendir("/proc/self/fd");
  if (sockets->descriptors != NULL && sockets->port != 0)
    watch(&sockets->timer);
}

/* The socket that listens on the port of the node, or -1. */
static int listener(gfc_idle_sockets *sockets) {
  rewinddir(sockets->descriptors);
  struct dirent *entry;
  while ((entry = readdir(sockets->descriptors)) != NULL) {
    int fd = atoi(entry->d_name), listens = 0;
    socklen_t bytes = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0 &&
        at_port(sockets, fd))
      return fd;
  }
  return -1;
}

void gfc_idle_sockets_end(gfc_idle_sockets *sockets) {
  if (sockets->descriptors == NULL)
    return;
  /* When the provider closes, it loses accepted connections that have not sent anything yet, and
   * leaks their descriptors. */
  int fd = listener(sockets);
  if (fd >= 0) {
    shutdown(fd, SHUT_RDWR);
    shut_down_silent(sockets, 0);
  }
  closedir(sockets->descriptors);
}
