#include "files.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
  char *folder; /* as the program names it; NULL: none */
  char path[32];
} held;

void files_hold(const char *folder) {
  int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  if ((held.folder = strdup(folder)) == NULL)
    out_of_memory();
  snprintf(held.path, sizeof held.path, "/proc/self/fd/%d", fd);
}

/* Is it the held folder, or below it? */
static bool is_held(const char *folder) {
  size_t length = held.folder == NULL ? 0 : strlen(held.folder);
  return length > 0 && strncmp(folder, held.folder, length) == 0 &&
         (folder[length] == '\0' || folder[length] == '/');
}

bool files_folder(char path[FILES_PATH], const char *folder) {
  bool through = is_held(folder);
  if ((size_t)snprintf(path, FILES_PATH, "%s%s", through ? held.path : "",
                       through ? folder + strlen(held.folder) : folder) < FILES_PATH)
    return true;
  errno = ENAMETOOLONG;
  return false;
}

bool files_path(char path[FILES_PATH], const char *folder, const char *name) {
  char at[FILES_PATH];
  if (files_folder(at, folder) &&
      (size_t)snprintf(path, FILES_PATH, "%s/%s", at, name) < FILES_PATH)
    return true;
  errno = ENAMETOOLONG;
  return false;
}

/* Open a folder. -1: errno. */
static int open_folder(const char *folder, int flags) {
  char path[FILES_PATH];
  return files_folder(path, folder) ? open(path, flags | O_DIRECTORY | O_CLOEXEC) : -1;
}

bool files_guarded(const char *folder) {
  char path[FILES_PATH];
  struct stat info;
  if (!files_folder(path, folder) || stat(path, &info) != 0)
    return true;
  bool own = info.st_uid == geteuid() || info.st_uid == 0, open = (info.st_mode & S_IWOTH) != 0;
  if (!own)
    report("%s: belongs to another user", folder);
  else if (open)
    report("%s: all users can write to it: chmod o-w it", folder);
  return own && !open;
}

static bool read_all(int fd, char *text, size_t room) {
  size_t at = 0;
  ssize_t n = 0;
  while (at < room && (n = read(fd, text + at, room - at)) > 0)
    at += (size_t)n;
  if (n < 0 || at == room) {
    errno = n < 0 ? errno : EFBIG;
    return false;
  }
  text[at] = '\0';
  return true;
}

static bool read_file(const char *folder, const char *name, char *text, size_t room) {
  char path[FILES_PATH];
  if (!files_path(path, folder, name))
    return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  bool done = read_all(fd, text, room);
  int error = errno;
  close(fd);
  errno = error;
  return done;
}

bool files_read(const char *folder, const char *name, char text[FILES_TEXT]) {
  return read_file(folder, name, text, FILES_TEXT);
}

static bool write_all(int fd, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    ssize_t n = write(fd, text, left);
    if (n < 0)
      return false;
    text += n;
    left -= (size_t)n;
  }
  return fsync(fd) == 0;
}

bool files_above(char path[FILES_PATH], const char *folder) {
  char copy[FILES_PATH]; /* dirname() changes it */
  if ((size_t)snprintf(copy, sizeof copy, "%s", folder) >= sizeof copy) {
    errno = ENAMETOOLONG;
    return false;
  }
  snprintf(path, FILES_PATH, "%s", dirname(copy));
  return true;
}

bool files_flush(const char *folder) {
  int fd = open_folder(folder, O_RDONLY);
  bool done = fd >= 0 && fsync(fd) == 0;
  if (fd >= 0)
    close(fd);
  return done;
}

files_written files_write(const char *folder, const char *name, const char *text, unsigned mode) {
  char path[FILES_PATH], temporary[FILES_PATH];
  if (!files_path(path, folder, name) || !files_path(temporary, folder, ".store.tmp.XXXXXX"))
    return FILES_OLD;
  int fd = mkostemp(temporary, O_CLOEXEC);
  if (fd < 0)
    return FILES_OLD;
  bool done = fchmod(fd, mode) == 0 && write_all(fd, text);
  int error = errno;
  close(fd);
  if (done && rename(temporary, path) == 0)
    return files_flush(folder) ? FILES_WRITTEN : FILES_DOUBTFUL;
  error = done ? errno : error;
  unlink(temporary);
  errno = error;
  return FILES_OLD;
}

int files_lock(const char *folder, const char *name) {
  char path[FILES_PATH];
  int fd = files_path(path, folder, name) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
    return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

int files_local(const char *folder, struct sockaddr_un *at) {
  int place = open_folder(folder, O_PATH);
  *at = (struct sockaddr_un){.sun_family = AF_UNIX};
  snprintf(at->sun_path, sizeof at->sun_path, "/proc/self/fd/%d/%s", place, FILES_LOCAL);
  return place;
}

bool files_confidential(const char *folder, const char *name, char *text, size_t room,
                        char why[FILES_WHY]) {
  char path[FILES_PATH];
  struct stat info;
  bool read = files_path(path, folder, name) && stat(path, &info) == 0 &&
              read_file(folder, name, text, room);
  if (!read)
    snprintf(why, FILES_WHY, "cannot read %s/%s: %s", folder, name, strerror(errno));
  else if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    snprintf(why, FILES_WHY, "%s/%s is readable by others: chmod 600 it", folder, name);
  return read && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool files_secret(const char *folder, const char *name, char text[FILES_TEXT]) {
  char why[FILES_WHY];
  bool done = files_confidential(folder, name, text, FILES_TEXT, why);
  if (!done)
    report("%s", why);
  return done;
}

bool address_parse(address *a, const char *text) {
  const char *colon = strrchr(text, ':');
  unsigned port;
  char end;
  if (colon == NULL || sscanf(colon + 1, "%5u%c", &port, &end) != 1 || port > 65535)
    return false;
  size_t bytes = (size_t)(colon - text);
  if (bytes >= 2 && text[0] == '[' && colon[-1] == ']') {
    text++;
    bytes -= 2;
  }
  if (bytes == 0 || bytes >= sizeof a->host)
    return false;
  memcpy(a->host, text, bytes);
  a->host[bytes] = '\0';
  a->port = (unsigned short)port;
  return true;
}

void address_text(const address *a, char text[80]) {
  snprintf(text, 80, strchr(a->host, ':') != NULL ? "[%s]:%u" : "%s:%u", a->host, a->port);
}

bool address_resolve(const address *a, struct sockaddr_storage *to, socklen_t *length) {
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                 .ai_socktype = SOCK_STREAM};
  struct addrinfo *found;
  char port[8];
  snprintf(port, sizeof port, "%u", a->port);
  if (getaddrinfo(a->host, port, &hints, &found) != 0)
    return false;
  memcpy(to, found->ai_addr, found->ai_addrlen);
  *length = found->ai_addrlen;
  freeaddrinfo(found);
  return true;
}
