#include "run.h"

#include "common/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROOM = 65536, LIMIT_S = 5 };

static int reach(const char *folder) {
  struct sockaddr_un at;
  const struct timeval limit = {.tv_sec = LIMIT_S};
  int place = files_local(folder, &at);
  if (place < 0)
    return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
    close(fd);
    fd = -1;
  }
  close(place);
  return fd;
}

static int receive(int fd, char *text, size_t room) {
  size_t at = 0;
  while (at < room) {
    ssize_t n = recv(fd, text + at, room - at, 0);
    if (n <= 0)
      return -1;
    at += (size_t)n;
    if (at >= 5 && memcmp(text + at - 5, "END\r\n", 5) == 0)
      return (int)at;
  }
  return -1;
}

int status_ask(const char *folder, char *text, size_t room) {
  int fd = reach(folder), bytes = -1;
  if (fd < 0)
    return -1;
  if (send(fd, "stats\r\n", 7, MSG_NOSIGNAL) == 7)
    bytes = receive(fd, text, room);
  close(fd);
  for (int i = 0; i < bytes; i++)
    if (text[i] == '\r' || text[i] == '\n')
      text[i] = '\0';
  return bytes;
}

const char *status_find(const char *text, int bytes, const char *name) {
  size_t length = strlen(name);
  for (const char *at = text; at < text + bytes; at += strlen(at) + 1)
    if (strncmp(at, "STAT ", 5) == 0 && strncmp(at + 5, name, length) == 0 && at[5 + length] == ' ')
      return at + 6 + length;
  return NULL;
}

int status_print(const char *folder) {
  char text[ROOM];
  int bytes = status_ask(folder, text, sizeof text);
  if (bytes < 0)
    return refuse(files_read(folder, "client", text) ? "%s: the agent does not answer"
                                                     : "%s: no store runs in it",
                  folder);
  for (const char *at = text; at < text + bytes; at += strlen(at) + 1) {
    char name[64];
    int value;
    if (sscanf(at, "STAT %63s %n", name, &value) == 1)
      printf("%-20s %s\n", name, at + value);
  }
  const char *state = status_find(text, bytes, "state");
  return state != NULL && strcmp(state, "read-write") == 0 ? EXIT_DONE : EXIT_WRONG;
}
