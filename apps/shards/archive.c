#include "archive.h"

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

/* Redirect the child's stdin or stdout, and its stderr. Returns 0 or an error: without this the
 * archive would be empty. */
static int redirect(posix_spawn_file_actions_t *actions, int child_end, int as, int errors) {
  int reason = posix_spawn_file_actions_adddup2(actions, child_end, as);
  return reason != 0 ? reason : posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO);
}

/* The child gets default signal handling, so that Ctrl-C ends it. */
static int spawn(archive *tar, char *const *arguments, int child_end, int as) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  int reason = posix_spawn_file_actions_init(&actions);
  if (reason != 0)
    return reason;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  reason = redirect(&actions, child_end, as, tar->errors);
  if (reason == 0)
    reason = posix_spawnp(&tar->child, "tar", &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return reason;
}

/* Start tar with one end of a pipe as its stdin (as = 0) or stdout (as = 1). */
static int start(archive *tar, char *const *arguments, int as) {
  int ends[2];
  unsetenv("TAR_OPTIONS");
  tar->child = -1;
  tar->fd = -1;
  tar->errors = memfd_create("tar", MFD_CLOEXEC);
  if (tar->errors < 0 || pipe2(ends, O_CLOEXEC) != 0)
    return refuse("cannot start tar: %s", strerror(errno));
  int reason = spawn(tar, arguments, ends[as], as);
  close(ends[as]);
  tar->fd = ends[1 - as];
  return reason == 0 ? TOOL_OK : refuse("cannot start tar: %s", strerror(reason));
}

int archive_create(archive *tar, const char *folder) {
  char *arguments[] = {
      "tar", "--create", "--format=posix", "--file=-", "--directory", (char *)folder, ".", NULL};
  tar->made = true;
  return start(tar, arguments, 1);
}

int archive_extract(archive *tar, const char *folder) {
  char *arguments[] = {"tar",      "--extract",   "--preserve-permissions",
                       "--file=-", "--directory", (char *)folder,
                       NULL};
  tar->made = false;
  return start(tar, arguments, 0);
}

static void release(archive *tar) {
  if (tar->fd >= 0)
    close(tar->fd);
  if (tar->errors >= 0)
    close(tar->errors);
  tar->fd = tar->errors = -1;
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

/* Read the next line of tar's messages, without its end. False: there is none. */
static bool next_line(const archive *tar, off_t *at, char *line, size_t size) {
  ssize_t n = pread(tar->errors, line, size - 1, *at);
  if (n <= 0)
    return false;
  line[n] = '\0';
  size_t length = strcspn(line, "\n");
  *at += (off_t)length + (line[length] == '\n');
  line[length] = '\0';
  return true;
}

int archive_finish(archive *tar) {
  char line[512] = "";
  off_t at = 0;
  close(tar->fd);
  tar->fd = -1;
  int status = wait_for(tar);
  bool failed = status != 0 && !report_interrupted();
  if (failed && next_line(tar, &at, line, sizeof line))
    refuse("tar failed: %s", line);
  else if (failed)
    refuse("tar failed: no message");
  while (status == 0 && tar->made && next_line(tar, &at, line, sizeof line))
    say("left out: %s", line);
  release(tar);
  return status == 0 ? TOOL_OK : TOOL_REFUSED;
}

void archive_abort(archive *tar) {
  if (tar->child > 0)
    kill(tar->child, SIGTERM);
  wait_for(tar);
  release(tar);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  remove(path);
  return 0;
}

static int open_up(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)walk;
  if (type == FTW_D || type == FTW_DNR)
    chmod(path, (info->st_mode | S_IRWXU) & 07777);
  return 0;
}

void remove_folder(const char *folder) {
  enum { DESCRIPTORS = 32 };
  nftw(folder, open_up, DESCRIPTORS, FTW_PHYS);
  nftw(folder, remove_one, DESCRIPTORS, FTW_PHYS | FTW_DEPTH);
}
