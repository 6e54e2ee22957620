#include "output.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(RENAME_NOREPLACE) /* musl's stdio.h has neither it nor renameat2: man 2 rename */
#define RENAME_NOREPLACE 1
#define renameat2(...) syscall(SYS_renameat2, __VA_ARGS__)
#endif

void *must_alloc(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size ? size : 1);
  if (memory == NULL)
    exit(refuse("out of memory"));
  return memory;
}

static char *must(char *text) {
  if (text == NULL)
    exit(refuse("out of memory"));
  return text;
}

char *must_copy(const char *text) { return must(strdup(text)); }

void *must_grow(void *memory, size_t count, size_t size) {
  void *longer = count > SIZE_MAX / size ? NULL : realloc(memory, count * size);
  if (longer == NULL)
    exit(refuse("out of memory"));
  return longer;
}

char *path_try_join(const char *folder, const char *name) {
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);
  size_t length = strlen(folder);
  bool slash = length > 0 && folder[length - 1] == '/';
  if (path != NULL)
    snprintf(path, size, "%s%s%s", folder, slash ? "" : "/", name);
  return path;
}

char *path_join(const char *folder, const char *name) { return must(path_try_join(folder, name)); }

static char *try_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

char *path_folder(const char *path) { return must(try_folder(path)); }

bool path_exists(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

bool file_unchanged(const struct stat *before, const struct stat *now) {
  return now->st_dev == before->st_dev && now->st_ino == before->st_ino &&
         now->st_size == before->st_size && now->st_mtim.tv_sec == before->st_mtim.tv_sec &&
         now->st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

int output_plan(output *out, char *final_path, bool replace) {
  *out = (output){.final_path = final_path, .fd = -1, .replace = replace};
  if (final_path != NULL)
    out->folder = try_folder(final_path);
  if (out->folder != NULL)
    out->temp_path = path_try_join(out->folder, ".gfsmith-shards.tmp.XXXXXX");
  return out->temp_path != NULL ? TOOL_OK : refuse("out of memory");
}

int output_open(output *outs, size_t count, mode_t mode) {
  mode_t mask = umask(0);
  umask(mask);
  for (size_t i = 0; i < count; i++) {
    output *out = &outs[i];
    out->fd = mkstemp(out->temp_path);
    out->made = out->fd >= 0;
    if (!out->made || fcntl(out->fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fchmod(out->fd, mode & ~mask & 0666) != 0)
      return refuse("cannot create a file in %s: %s", out->folder, strerror(errno));
  }
  return TOOL_OK;
}

bool output_write_at(const output *out, const void *bytes, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pwrite(out->fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR && !report_interrupted())
      continue;
    if (n <= 0) {
      errno = n < 0 ? errno : ENOSPC;
      return false;
    }
    done += (size_t)n;
  }
  return true;
}

bool output_write(void *context, const void *bytes, size_t size) {
  output *out = context;
  if (!output_write_at(out, bytes, size, out->size)) {
    out->error = errno;
    return false;
  }
  out->size += size;
  return true;
}

int output_failure(const output *outs, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (outs[i].error != 0)
      return refuse("cannot write %s: %s", outs[i].final_path, strerror(outs[i].error));
  return TOOL_REFUSED;
}

int open_input(const char *path) {
  return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

ssize_t read_some(int fd, void *bytes, size_t size) {
  ssize_t n = -1;
  errno = EINTR;
  while (n < 0 && (errno == EINTR || errno == EAGAIN) && !report_interrupted()) {
    report_wait_readable(fd);
    errno = EINTR;
    n = report_interrupted() ? -1 : read(fd, bytes, size);
  }
  return n;
}

bool write_all(int fd, const void *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = write(fd, (const char *)bytes + done, size - done);
    bool full = n < 0 && errno == EAGAIN; /* a pipe that does not block */
    if (full)
      report_wait_writable(fd);
    if ((full || (n < 0 && errno == EINTR)) && !report_interrupted())
      continue;
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR && !report_interrupted())
      continue;
    if (n < 0)
      return -1;
    if (n == 0)
      break;
    done += (size_t)n;
  }
  return (ssize_t)done;
}

static int flush_file(output *out) {
  int failed = fsync(out->fd);
  int reason = errno;
  if (close(out->fd) != 0 && !failed) {
    failed = -1;
    reason = errno;
  }
  out->fd = -1;
  return failed ? refuse("cannot write %s: %s", out->final_path, strerror(reason)) : TOOL_OK;
}

int output_flush(output *outs, size_t count) {
  int status = TOOL_OK;
  for (size_t i = 0; i < count && status == TOOL_OK; i++)
    status = report_interrupted() ? TOOL_REFUSED : flush_file(&outs[i]);
  return report_interrupted() ? TOOL_REFUSED : status;
}

static int flush_folder(const char *folder, int flush(int)) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int status = TOOL_OK;
  /* EINVAL: this file system does not support fsync for folders. */
  if (fd < 0 || (flush(fd) != 0 && errno != EINVAL))
    status = refuse("cannot flush %s: %s", folder, strerror(errno));
  if (fd >= 0)
    close(fd);
  return status;
}

int output_flush_folder(const char *folder) { return flush_folder(folder, fsync); }

int output_flush_tree(const char *folder) { return flush_folder(folder, syncfs); }

int rename_new(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  /* This file system has no such rename. A link does not replace a file either. */
  if (link(from, to) != 0)
    return -1;
  unlink(from); /* the file has its new name: if this fails, a temporary name remains */
  return 0;
}

static int publish(output *out) {
  int failed = out->replace ? rename(out->temp_path, out->final_path)
                            : rename_new(out->temp_path, out->final_path);
  if (failed && errno == EEXIST)
    return refuse("%s already exists", out->final_path);
  if (failed)
    return refuse("cannot create %s: %s", out->final_path, strerror(errno));
  out->made = false;
  out->done = true;
  return TOOL_OK;
}

int output_publish(output *outs, size_t count) {
  int status = TOOL_OK;
  for (size_t i = 0; i < count && status == TOOL_OK; i++)
    status = publish(&outs[i]);
  return status;
}

int output_settle(output *outs, size_t count) {
  int status = output_publish(outs, count);
  for (size_t i = 0; i < count && outs[i].done; i++) {
    /* There is nearly always one folder: it is flushed once, after its last rename. */
    bool last = i + 1 == count || !outs[i + 1].done || strcmp(outs[i].folder, outs[i + 1].folder);
    if (last && status == TOOL_OK)
      status = output_flush_folder(outs[i].folder);
  }
  return status;
}

int output_commit(output *outs, size_t count) {
  int status = output_flush(outs, count);
  return status == TOOL_OK ? output_settle(outs, count) : status;
}

void output_discard(output *outs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (outs[i].final_path == NULL)
      continue;
    if (outs[i].fd >= 0)
      close(outs[i].fd);
    if (outs[i].made)
      unlink(outs[i].temp_path);
    free(outs[i].temp_path);
    free(outs[i].final_path);
    free(outs[i].folder);
  }
}
