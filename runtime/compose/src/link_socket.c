#include "link_socket.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <stddef.h>

uint64_t gfc_link_socket_silence(gfc_own_sockets *sockets, struct fid_ep *ep) {
  struct sockaddr_storage own = {0}, peer = {0};
  size_t own_bytes = sizeof own, peer_bytes = sizeof peer;
  struct tcp_info info = {0};
  socklen_t bytes = sizeof info;
  if (fi_getname(&ep->fid, &own, &own_bytes) != 0 || fi_getpeer(ep, &peer, &peer_bytes) != 0)
    return UINT64_MAX;
  int fd = gfc_own_sockets_between(sockets, &own, &peer);
  if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
    return UINT64_MAX;
  return info.tcpi_last_data_recv;
}
