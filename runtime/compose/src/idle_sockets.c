#include "idle_sockets.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum {
  FIRST_BYTES = 32,
  SILENT_MAX = 64, /* with more of them, the time limit is shorter */
  ESTABLISHED = 1  /* the kernel's number for this TCP state */
};

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
  unsigned count = 0, ms = 0;
  int fd;
  gfc_own_sockets_rewind(sockets->own);
  while ((fd = gfc_own_sockets_next(sockets->own)) >= 0) {
    if (!silent(fd, &ms))
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

void gfc_idle_sockets_watch(gfc_idle_sockets *sockets, gfc_timers *timers, gfc_own_sockets *own,
                            unsigned connect_ms) {
  sockets->timers = timers;
  sockets->own = own;
  sockets->connect_ms = connect_ms;
  if (own->descriptors != NULL)
    watch(&sockets->timer);
}

/* The socket that listens on the address of the node, or -1. */
static int listener(gfc_idle_sockets *sockets) {
  int fd, listens = 0;
  socklen_t bytes = sizeof listens;
  gfc_own_sockets_rewind(sockets->own);
  while ((fd = gfc_own_sockets_next(sockets->own)) >= 0)
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0)
      break;
  return fd;
}

void gfc_idle_sockets_end(gfc_idle_sockets *sockets) {
  /* When the provider closes, it loses accepted connections that have not sent anything yet, and
   * leaks their descriptors. */
  int fd = listener(sockets);
  if (fd >= 0) {
    shutdown(fd, SHUT_RDWR);
    shut_down_silent(sockets, 0);
  }
}
