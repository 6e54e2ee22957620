#include "output.h"

#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#if !defined(RENAME_NOREPLACE) /* musl's stdio.h has neither it nor renameat2: man 2 rename */
#define RENAME_NOREPLACE 1
#define renameat2(...) syscall(SYS_renameat2, __VA_ARGS__)
#endif

#define TEMPORARY ".gfsmith-shards.tmp.XXXXXX"
enum { RANDOM_LETTERS = 6 /* at its end */, TRIES = 100 };

bool is_temporary(const char *name) {
  return strncmp(name, TEMPORARY, strlen(TEMPORARY) - RANDOM_LETTERS) == 0;
}

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

/* Slashes at the end do not count, as for the system. */
static char *try_folder(const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  while (length > 0 && path[length - 1] != '/')
    length--;
  while (length > 1 && path[length - 1] == '/')
    length--;
  return length == 0 ? strdup(".") : strndup(path, length);
}

char *path_folder(const char *path) { return must(try_folder(path)); }

const char *path_last(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static int each_entry(DIR *entries, folder_visit *each, void *context) {
  int status = 0;
  while (status == 0) {
    errno = 0;
    const struct dirent *entry = readdir(entries);
    if (entry == NULL)
      return errno == 0 ? 0 : -1;
    status = each(context, entry->d_name);
  }
  return status;
}

int folder_each(int folder, folder_visit *each, void *context) {
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  int status = entries != NULL ? each_entry(entries, each, context) : -1, reason = errno;
  if (entries != NULL)
    closedir(entries);
  else if (fd >= 0)
    close(fd);
  errno = reason;
  return status;
}

bool path_exists(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

bool is_absent(int error) {
  return error == ENOENT || error == EINVAL || error == EILSEQ || error == ENAMETOOLONG;
}

int path_check_name(const char *path) {
  return path_exists(path) || errno == ENOENT || !is_absent(errno)
             ? TOOL_OK
             : refuse("cannot create %s: %s", path, strerror(errno));
}

static bool same_time(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Write back the pages of a file, without a flush, which would take long for many files. Errors are
 * those of the programs that have changed it. */
static void write_back(int fd) {
  sync_file_range(fd, 0, 0,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

int file_state(int fd, struct stat *info) {
  write_back(fd); /* file systems in user space and some of networks set the times then */
  int failed = fstat(fd, info), reason = errno;
  write_back(fd); /* pages that were changed in between */
  errno = reason;
  return failed;
}

bool file_unchanged(const struct stat *before, const struct stat *now) {
  /* A program that writes may set the time of the last write back, but not that of the last change,
   * which is the same in file systems that have no other one. */
  bool rewritten =
      !same_time(now->st_ctim, before->st_ctim) && !same_time(now->st_ctim, now->st_mtim);
  return now->st_dev == before->st_dev && now->st_ino == before->st_ino &&
         now->st_size == before->st_size && same_time(now->st_mtim, before->st_mtim) && !rewritten;
}

int output_plan(output *out, char *final_path, bool replace) {
  *out = (output){.final_path = final_path, .at = AT_FDCWD, .fd = -1, .replace = replace};
  if (final_path != NULL)
    out->folder = try_folder(final_path);
  if (out->folder != NULL)
    out->temp_path = path_try_join(out->folder, TEMPORARY);
  if (out->temp_path == NULL)
    return refuse("out of memory");
  return path_check_name(final_path);
}

const char *output_name(const output *out, const char *path) {
  return out->at == AT_FDCWD ? path : path_last(path);
}

/* mkstemp in an open folder. */
static int open_temporary(const output *out) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  char *end = out->temp_path + strlen(out->temp_path) - RANDOM_LETTERS;
  uint8_t random[RANDOM_LETTERS];
  int fd = -1;
  for (unsigned tries = 0; fd < 0 && tries < TRIES && (tries == 0 || errno == EEXIST); tries++) {
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
      return -1;
    for (size_t i = 0; i < RANDOM_LETTERS; i++)
      end[i] = letters[random[i] % 64];
    fd = openat(out->at, output_name(out, out->temp_path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                0600);
  }
  return fd;
}

int output_open(output *outs, size_t count, const rights *given) {
  for (size_t i = 0; i < count; i++) {
    output *out = &outs[i];
    out->fd = open_temporary(out);
    out->made = out->fd >= 0;
    if (!out->made || rights_give(out->fd, given, &out->mode) != 0)
      return refuse("cannot create a file in %s: %s", out->folder, strerror(errno));
  }
  return TOOL_OK;
}

/* Its permissions could forbid to open it again: flush_file() sets them. */
int output_rest(output *out) {
  int failed = rights_set(out->fd, 0600), closed = close(out->fd);
  out->fd = -1;
  out->rests = true;
  return failed == 0 && closed == 0
             ? TOOL_OK
             : refuse("cannot create a file in %s: %s", out->folder, strerror(errno));
}

int output_use(const output *out) {
  return out->rests ? openat(out->at, output_name(out, out->temp_path),
                             O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                    : out->fd;
}

int output_end_use(const output *out, int fd) { return out->rests && fd >= 0 ? close(fd) : 0; }

static bool write_at(int fd, const void *bytes, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
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

bool output_write_at(const output *out, const void *bytes, size_t size, uint64_t offset) {
  int fd = output_use(out);
  bool done = fd >= 0 && write_at(fd, bytes, size, offset);
  int reason = errno;
  if (output_end_use(out, fd) == 0)
    errno = reason;
  else
    done = false;
  return done;
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

int read_header(int fd, gfsmith_shards_header *header, const char **why) {
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  ssize_t n = read_at(fd, raw, sizeof raw, 0);
  return n < 0 ? -1 : gfsmith_shards_header_read(header, raw, (size_t)n, why) == GFSMITH_OK;
}

int open_at(int at, const char *path, int flags) {
  flags |= O_NOCTTY | O_CLOEXEC;
  int fd = openat(at, path, flags | O_NONBLOCK);
  return fd < 0 && errno == EWOULDBLOCK ? openat(at, path, flags) : fd;
}

int open_below(int at, const char *name, int flags) {
  int from = fcntl(at, F_DUPFD_CLOEXEC, 0);
  for (const char *slash; from >= 0 && (slash = strchr(name, '/')) != NULL; name = slash + 1) {
    char part[1025]; /* FUSE has names of up to 1024 bytes */
    int inner = -1;
    if (snprintf(part, sizeof part, "%.*s", (int)(slash - name), name) >= (int)sizeof part)
      errno = ENAMETOOLONG;
    else
      inner = openat(from, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0 && errno == ENOTDIR) { /* the error of Linux for a symbolic link */
      char target[1];
      errno = readlinkat(from, part, target, 1) >= 0 ? ELOOP : ENOTDIR;
    }
    int reason = errno;
    close(from);
    errno = reason;
    from = inner;
  }
  if (from < 0)
    return -1;
  int fd = open_at(from, name, flags | O_NOFOLLOW);
  int reason = errno;
  close(from);
  errno = reason;
  return fd;
}

int open_input(const char *path) { return open_at(AT_FDCWD, path, O_RDONLY); }

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

ssize_t read_part(int fd, void *bytes, size_t size, uint64_t offset) {
  ssize_t n;
  do
    n = pread(fd, bytes, size, (off_t)offset);
  while (n < 0 && errno == EINTR && !report_interrupted());
  return n;
}

ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = read_part(fd, (char *)bytes + done, size - done, offset + done);
    if (n < 0)
      return -1;
    if (n == 0)
      break;
    done += (size_t)n;
  }
  return (ssize_t)done;
}

static int flush_file(output *out) {
  int fd = output_use(out);
  int failed = fd < 0 || (out->rests && rights_set(fd, out->mode) != 0) || fsync(fd) != 0;
  int reason = errno;
  if (fd >= 0 && close(fd) != 0 && !failed) {
    failed = 1;
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

static int flush_folder(int at, const char *folder, int flush(int)) {
  int fd = openat(at, at == AT_FDCWD ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int status = TOOL_OK;
  /* EINVAL: this file system does not support fsync for folders. */
  if (fd < 0 || (flush(fd) != 0 && errno != EINVAL))
    status = refuse("cannot flush %s: %s", folder, strerror(errno));
  if (fd >= 0)
    close(fd);
  return status;
}

int output_flush_folder(int at, const char *folder) { return flush_folder(at, folder, fsync); }

/* Flush a file or folder below a folder. One that this user must not read is left out. */
static int flush_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)walk;
  if (type == FTW_NS || (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)))
    return 0;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return errno == EACCES ? 0 : -1;
  int failed = fsync(fd) != 0 && errno != EINVAL, reason = errno;
  close(fd);
  errno = reason;
  return failed ? -1 : 0;
}

/* The type of file systems in user space (man 2 statfs), which syncfs does not reach. */
enum { FUSE = 0x65735546, DESCRIPTORS = 32 };

int output_flush_tree(const char *folder) {
  struct statfs system;
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool each = fd >= 0 && fstatfs(fd, &system) == 0 && (uint32_t)system.f_type == FUSE;
  if (fd >= 0)
    close(fd);
  if (!each)
    return flush_folder(AT_FDCWD, folder, syncfs);
  return nftw(folder, flush_one, DESCRIPTORS, FTW_PHYS) == 0
             ? TOOL_OK
             : refuse("cannot flush %s: %s", folder, strerror(errno));
}

/* Does link fail with this error for a folder, or in a file system without links? */
static bool has_no_links(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK;
}

/* Create an empty target, which fails if it exists, and replace it: for folders, and for file
 * systems without links. */
static int rename_onto(int at, const char *from, const char *to) {
  struct stat info;
  if (fstatat(at, from, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return -1;
  bool folder = S_ISDIR(info.st_mode);
  int fd = folder ? mkdirat(at, to, 0700)
                  : openat(at, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || (!folder && close(fd) != 0))
    return -1;
  if (renameat(at, from, at, to) == 0)
    return 0;
  int reason = errno;
  unlinkat(at, to, folder ? AT_REMOVEDIR : 0);
  errno = reason;
  return -1;
}

int rename_new(int at, const char *from, const char *to) {
  if (renameat2(at, from, at, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  /* This file system has no such rename. A link does not replace a file either. */
  if (linkat(at, from, at, to, 0) != 0)
    return has_no_links(errno) ? rename_onto(at, from, to) : -1;
  unlinkat(at, from, 0); /* the file has its new name: if this fails, a temporary name remains */
  return 0;
}

static int publish(output *out) {
  const char *from = output_name(out, out->temp_path), *to = output_name(out, out->final_path);
  int failed = out->replace ? renameat(out->at, from, out->at, to) : rename_new(out->at, from, to);
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
      status = output_flush_folder(outs[i].at, outs[i].folder);
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
      unlinkat(outs[i].at, output_name(&outs[i], outs[i].temp_path), 0);
    free(outs[i].temp_path);
    free(outs[i].final_path);
    free(outs[i].folder);
  }
}
