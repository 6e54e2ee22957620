#include "archive.h"

#include "output.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Redirect the child's stdin or stdout, its stderr, and the names that it prints. Returns 0 or an
 * error: without this the archive would be empty. */
static int redirect(posix_spawn_file_actions_t *actions, const archive *tar, int child_end,
                    int as) {
  int reason = posix_spawn_file_actions_adddup2(actions, child_end, as);
  if (reason == 0 && tar->names >= 0)
    reason = posix_spawn_file_actions_adddup2(actions, tar->names, STDOUT_FILENO);
  return reason != 0 ? reason
                     : posix_spawn_file_actions_adddup2(actions, tar->errors, STDERR_FILENO);
}

/* The child gets default signal handling, so that Ctrl-C ends it. */
static int spawn(archive *tar, char *const *arguments, int child_end, int as) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  sigaddset(&defaults, SIGIO);
  int reason = posix_spawn_file_actions_init(&actions);
  if (reason != 0)
    return reason;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  reason = redirect(&actions, tar, child_end, as);
  if (reason == 0)
    reason = posix_spawnp(&tar->child, "tar", &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return reason;
}

/* Start tar with one end of a pipe as its stdin (as = 0) or stdout (as = 1). */
static int start(archive *tar, char *const *arguments, int as) {
  int ends[2];
  unsetenv("TAR_OPTIONS"); /* of GNU tar, and of bsdtar */
  unsetenv("TAR_READER_OPTIONS");
  unsetenv("TAR_WRITER_OPTIONS");
  /* tar translates names from and to the locale, which may be another one in restore. */
  setenv("LC_ALL", "C.UTF-8", 1);
  tar->child = -1;
  tar->fd = -1;
  tar->errors = memfd_create("tar", MFD_CLOEXEC);
  tar->names = tar->folder != NULL ? memfd_create("names", MFD_CLOEXEC) : -1;
  if (tar->errors < 0 || (tar->folder != NULL && tar->names < 0) || pipe2(ends, O_CLOEXEC) != 0)
    return refuse("cannot start tar: %s", strerror(errno));
  int reason = spawn(tar, arguments, ends[as], as);
  close(ends[as]);
  tar->fd = ends[1 - as];
  return reason == 0 ? TOOL_OK : refuse("cannot start tar: %s", strerror(reason));
}

static void release(archive *tar) {
  if (tar->fd >= 0)
    close(tar->fd);
  if (tar->errors >= 0)
    close(tar->errors);
  if (tar->names >= 0)
    close(tar->names);
  tar->fd = tar->errors = tar->names = -1;
}

static int wait_for(archive *tar) {
  int status = -1;
  if (tar->child < 0)
    return 0;
  while (waitpid(tar->child, &status, 0) < 0 && errno == EINTR)
    ;
  tar->child = -1;
  return status;
}

/* Read the next line of a file, or a part of one that is longer, without its end. False: there is
 * none. */
static bool next_line(int file, off_t *at, char *line, size_t size) {
  ssize_t n = pread(file, line, size - 1, *at);
  if (n <= 0)
    return false;
  line[n] = '\0';
  size_t length = strcspn(line, "\n");
  *at += (off_t)length + (line[length] == '\n');
  line[length] = '\0';
  return true;
}

/* bsdtar prints the names that it extracts among its messages. */
static bool is_name(const archive *tar, const char *line) {
  return tar->folder != NULL && strncmp(line, "x ", 2) == 0;
}

/* The first message, which may follow a name of bsdtar. */
static int refuse_failed(const archive *tar) {
  char line[512] = "";
  off_t at = 0;
  bool found;
  do
    found = next_line(tar->errors, &at, line, sizeof line);
  while (found && is_name(tar, line) && strstr(line, ": ") == NULL);
  return refuse("tar failed: %s", found ? line : "no message");
}

static size_t count_names(const archive *tar, int file) {
  char line[1 << 15]; /* a path, each byte as four */
  size_t names = 0;
  off_t at = 0;
  while (next_line(file, &at, line, sizeof line))
    names += file == tar->names || is_name(tar, line);
  return names;
}

static struct {
  size_t files;
  bool hidden;  /* there are some in a folder that this user must not read */
  bool folders; /* only their states count */
  uint64_t state;
} there;

static int count_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)path;
  (void)info;
  (void)walk;
  there.files++;
  there.hidden |= type == FTW_DNR || type == FTW_NS;
  return 0;
}

enum { DESCRIPTORS = 32 }; /* of nftw */

/* A folder in which files are removed, or folders opened. It stays open, and paths below it are
 * opened without symbolic links: another user, who may own a restored folder, may exchange it for a
 * link meanwhile. */
static struct {
  int fd;
  size_t length; /* of its path */
} root;

static void enter_root(const char *folder) {
  root.fd = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  root.length = strlen(folder);
}

static void leave_root(void) {
  if (root.fd >= 0)
    close(root.fd);
}

/* The part of a path below the root; "." for the root. */
static const char *below_root(const char *path) {
  return path[root.length] == '/' ? path + root.length + 1 : ".";
}

/* Folders that this user must not read, and is about to read nevertheless. */
typedef struct closed_folder {
  char *path; /* below the root */
  mode_t mode;
} closed_folder;

static struct {
  closed_folder *list;
  size_t count;
} closed;

/* Set the permissions of a folder that the user need not be able to read. */
static int set_mode(const char *path, mode_t mode) {
  char self[32];
  int fd = open_below(root.fd, path, O_PATH | O_DIRECTORY);
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  int failed = fd >= 0 ? chmod(self, mode) : -1, reason = errno;
  if (fd >= 0)
    close(fd);
  errno = reason;
  return failed;
}

/* Open a folder to its owner, and note its permissions. */
static int open_closed(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)walk;
  if ((type != FTW_D && type != FTW_DNR) || (info->st_mode & S_IRWXU) == S_IRWXU)
    return 0;
  closed_folder *list = realloc(closed.list, (closed.count + 1) * sizeof *list);
  closed.list = list != NULL ? list : closed.list;
  char *copy = strdup(below_root(path));
  if (list == NULL || copy == NULL || set_mode(copy, (info->st_mode | S_IRWXU) & 07777) != 0) {
    free(copy);
    return -1;
  }
  closed.list[closed.count++] = (closed_folder){copy, info->st_mode & 07777};
  return 0;
}

/* Open all folders to their owner; those in closed ones are found in later walks. */
static int open_all(const char *folder) {
  size_t opened;
  int failed;
  do {
    opened = closed.count;
    failed = nftw(folder, open_closed, DESCRIPTORS, FTW_PHYS);
  } while (!failed && closed.count > opened);
  return failed;
}

/* Give folders their permissions back, the inner ones first. */
static int close_again(void) {
  int failed = 0;
  for (size_t i = closed.count; i-- > 0;)
    if (set_mode(closed.list[i].path, closed.list[i].mode) != 0)
      failed = -1;
  return failed;
}

static void free_closed(void) {
  for (size_t i = 0; i < closed.count; i++)
    free(closed.list[i].path);
  free(closed.list);
  closed.list = NULL;
  closed.count = 0;
}

static int count_once(const char *folder) {
  there.files = 0;
  there.hidden = false;
  return nftw(folder, count_one, DESCRIPTORS, FTW_PHYS);
}

/* Count the files, also in folders that this user must not read. Returns 0, or -1 and errno: then
 * the folder is removed. */
static int count_files(const char *folder) {
  int failed = count_once(folder);
  enter_root(folder);
  if (!failed && there.hidden)
    failed = open_all(folder) != 0 || count_once(folder) != 0 || close_again() != 0;
  int reason = there.hidden ? EACCES : errno;
  free_closed();
  leave_root();
  errno = reason;
  return failed || there.hidden ? -1 : 0;
}

/* A file system that ignores case, for example, has one file for two names: the last one. */
static int check_names(const archive *tar) {
  size_t names = count_names(tar, tar->names);
  if (names == 0)
    names = count_names(tar, tar->errors);
  if (count_files(tar->folder) != 0)
    return refuse("cannot read the restored folder: %s", strerror(errno));
  return there.files >= names
             ? TOOL_OK
             : refuse("%zu names are in the folder, and %zu can be restored here: to this file "
                      "system, some of them are the same, such as those that differ in case only",
                      names, there.files);
}

static uint64_t mix(uint64_t sum, uint64_t value) {
  return (sum ^ value) * 0x100000001b3; /* the prime of FNV-1a with 64 bits */
}

/* A sum, since the order of names is not fixed. Devices and FIFOs have no bytes in an archive.
 * Inode numbers do not count, since some file systems give other ones after a while. */
static int add_state(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)type;
  (void)walk;
  const uint64_t numbers[] = {
      (uint64_t)info->st_size,         (uint64_t)info->st_mtim.tv_sec,
      (uint64_t)info->st_mtim.tv_nsec, (uint64_t)info->st_ctim.tv_sec,
      (uint64_t)info->st_ctim.tv_nsec,
  };
  uint64_t sum = 0xcbf29ce484222325;
  for (; *path != '\0'; path++)
    sum = mix(sum, (unsigned char)*path);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    sum = mix(sum, numbers[i]);
  bool other = S_ISREG(info->st_mode) || S_ISLNK(info->st_mode);
  if (S_ISDIR(info->st_mode) || (other && !there.folders))
    there.state += sum;
  return 0;
}

/* A number that differs, in all likelihood, after a change of a file or folder that tar does not
 * watch. The path may be a symbolic link, which nftw does not follow. */
static int find_state(const archive *tar, uint64_t *state) {
  char *inside = path_try_join(tar->source, ".");
  if (inside == NULL)
    return refuse("out of memory");
  there.state = 0;
  there.folders = tar->watches;
  nftw(inside, add_state, DESCRIPTORS, FTW_PHYS);
  *state = there.state;
  free(inside);
  return TOOL_OK;
}

static int check_state(const archive *tar) {
  uint64_t now = 0;
  int status = find_state(tar, &now);
  return status == TOOL_OK && now != tar->state
             ? refuse("%s changed while it was read", tar->source)
             : status;
}

/* *watches: GNU tar fails if a file changes while it is read. It does not find one that is moved
 * from a folder that it has not read yet to one that it has read. bsdtar fills a file that becomes
 * shorter with zeros, without a message. */
static int ask_kind(bool *watches) {
  char *arguments[] = {"tar", "--version", NULL};
  char text[64] = "";
  archive tar = ARCHIVE_NONE;
  int status = start(&tar, arguments, 1);
  if (status == TOOL_OK)
    read_some(tar.fd, text, sizeof text - 1);
  *watches = strstr(text, "GNU tar") != NULL;
  archive_abort(&tar);
  return report_interrupted() ? TOOL_REFUSED : status;
}

int archive_create(archive *tar, const char *folder) {
  char *arguments[] = {"tar",      "--create",    "--acls",       "--format=posix",
                       "--file=-", "--directory", (char *)folder, ".",
                       NULL};
  tar->folder = NULL;
  tar->source = folder;
  if (ask_kind(&tar->watches) != TOOL_OK || find_state(tar, &tar->state) != TOOL_OK)
    return TOOL_REFUSED;
  return start(tar, arguments, 1);
}

int archive_extract(archive *tar, const char *folder) {
  char *arguments[] = {"tar",       "--extract", "--acls",      "--preserve-permissions",
                       "--verbose", "--file=-",  "--directory", (char *)folder,
                       NULL};
  tar->folder = folder;
  return start(tar, arguments, 0);
}

int archive_finish(archive *tar) {
  char line[512] = "";
  off_t at = 0;
  close(tar->fd);
  tar->fd = -1;
  int status = wait_for(tar);
  if (status != 0 && !report_interrupted())
    refuse_failed(tar);
  while (status == 0 && tar->folder == NULL && next_line(tar->errors, &at, line, sizeof line))
    say("left out: %s", line);
  int result = status != 0           ? TOOL_REFUSED
               : tar->folder == NULL ? check_state(tar)
                                     : check_names(tar);
  release(tar);
  return result;
}

/* tar may ignore SIGTERM, as its parent, and ends at the end of the pipe then. */
void archive_abort(archive *tar) {
  if (tar->child > 0)
    kill(tar->child, SIGTERM);
  release(tar);
  wait_for(tar);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)type;
  const char *name = below_root(path);
  if (walk->level == 0) {
    rmdir(path);
    return 0;
  }
  char *folder = strdup(name);
  const char *last = path + walk->base;
  size_t length = (size_t)(last - name);
  if (folder == NULL)
    return -1;
  folder[length > 0 ? length - 1 : 0] = '\0';
  int at = open_below(root.fd, length > 0 ? folder : ".", O_PATH | O_DIRECTORY);
  if (at >= 0) {
    unlinkat(at, last, S_ISDIR(info->st_mode) ? AT_REMOVEDIR : 0);
    close(at);
  }
  free(folder);
  return 0;
}

void remove_folder(const char *folder) {
  enter_root(folder);
  open_all(folder);
  free_closed();
  nftw(folder, remove_one, DESCRIPTORS, FTW_PHYS | FTW_DEPTH);
  leave_root();
}
