#include "own_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void gfc_own_sockets_open(gfc_own_sockets *sockets, const struct sockaddr_storage *address) {
  sockets->address = *address;
  /* The directory stays open, because there may be no free descriptor when it is needed. */
  sockets->descriptors = opendir("/proc/self/fd");
}

void gfc_own_sockets_close(gfc_own_sockets *sockets) {
  if (sockets->descriptors != NULL)
    closedir(sockets->descriptors);
}

static bool is_four(const struct sockaddr_in *own, const struct sockaddr_in *other) {
  bool any = own->sin_addr.s_addr == htonl(INADDR_ANY);
  return own->sin_port == other->sin_port &&
         (any || own->sin_addr.s_addr == other->sin_addr.s_addr);
}

static bool is_six(const struct sockaddr_in6 *own, const struct sockaddr_in6 *other) {
  return own->sin6_port == other->sin6_port &&
         (IN6_IS_ADDR_UNSPECIFIED(&own->sin6_addr) ||
          memcmp(&own->sin6_addr, &other->sin6_addr, sizeof own->sin6_addr) == 0);
}

/* Has a socket this address, according to getsockname or getpeername? The application may have
 * sockets with the same port at other addresses. */
static bool has(int fd, int (*name)(int, struct sockaddr *, socklen_t *),
                const struct sockaddr_storage *own) {
  struct sockaddr_storage found;
  socklen_t bytes = sizeof found;
  if (name(fd, (struct sockaddr *)&found, &bytes) != 0 || found.ss_family != own->ss_family)
    return false;
  if (found.ss_family == AF_INET)
    return is_four((const struct sockaddr_in *)own, (struct sockaddr_in *)&found);
  return found.ss_family == AF_INET6 &&
         is_six((const struct sockaddr_in6 *)own, (struct sockaddr_in6 *)&found);
}

void gfc_own_sockets_rewind(gfc_own_sockets *sockets) {
  if (sockets->descriptors != NULL)
    rewinddir(sockets->descriptors);
}

/* The next descriptor of the process, or -1. */
static int next_descriptor(gfc_own_sockets *sockets) {
  struct dirent *entry;
  while (sockets->descriptors != NULL && (entry = readdir(sockets->descriptors)) != NULL)
    if (entry->d_name[0] != '.')
      return atoi(entry->d_name);
  return -1;
}

int gfc_own_sockets_next(gfc_own_sockets *sockets) {
  int fd;
  while ((fd = next_descriptor(sockets)) >= 0 && !has(fd, getsockname, &sockets->address))
    continue;
  return fd;
}

int gfc_own_sockets_between(gfc_own_sockets *sockets, const struct sockaddr_storage *own,
                            const struct sockaddr_storage *peer) {
  int fd;
  gfc_own_sockets_rewind(sockets);
  while ((fd = next_descriptor(sockets)) >= 0)
    if (has(fd, getsockname, own) && has(fd, getpeername, peer))
      break;
  return fd;
}

void gfc_own_sockets_keep(gfc_own_sockets *sockets, const struct sockaddr_storage *peer) {
  int fd;
  gfc_own_sockets_rewind(sockets);
  while ((fd = next_descriptor(sockets)) >= 0)
    if (has(fd, getsockname, &sockets->address) || (peer != NULL && has(fd, getpeername, peer)))
      fcntl(fd, F_SETFD, FD_CLOEXEC);
}
