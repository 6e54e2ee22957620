/* open_file.h: files that the user names. Includers define _GNU_SOURCE first. */
#ifndef GFS_OPEN_FILE_H
#define GFS_OPEN_FILE_H

#include <stdbool.h>
#include <stdio.h>
#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif

/* Open a file for reading, or truncate it for writing at its end, wherever that is later. Programs
 * that this one executes do not inherit it. A pipe (FIFO) does not block: without a reader it is
 * not opened, and a full one takes no more. NULL: failed. */
static inline FILE *gfs_open_file(const char *name, bool write) {
#if defined(_WIN32)
  return fopen(name, write ? "wb" : "rb");
#else
  const int use = write ? O_WRONLY | O_CREAT | O_TRUNC | O_APPEND : O_RDONLY;
  int fd = open(name, use | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  FILE *file = fd >= 0 ? fdopen(fd, write ? "w" : "r") : NULL;
  if (fd >= 0 && file == NULL)
    close(fd);
  return file;
#endif
}

#endif
