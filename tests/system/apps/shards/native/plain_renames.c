/* LD_PRELOAD: a file system without RENAME_NOREPLACE, such as NFS; with SHARDS_NO_LINKS, also
 * without hard links, owners and permissions, such as many file systems in user space. An open
 * folder can be listed once, as in sshfs. SHARDS_REMOTE is the type of the file system (man 2
 * statfs), which has no device then. With SHARDS_NEW_NUMBERS, a file has another number each time.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  (void)from_folder, (void)from, (void)to_folder, (void)to, (void)flags;
  errno = EINVAL;
  return -1;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  int (*real)(int, const char *, int, const char *, int);
  struct stat info;
  *(void **)&real = dlsym(RTLD_NEXT, "linkat");
  if (getenv("SHARDS_NO_LINKS") == NULL)
    return real(from_folder, from, to_folder, to, flags);
  errno = fstatat(to_folder, to, &info, 0) == 0 ? EEXIST : EPERM;
  return -1;
}

void rewinddir(DIR *folder) { (void)folder; }

int fstatfs64(int fd, struct statfs64 *system) {
  int (*real)(int, struct statfs64 *);
  *(void **)&real = dlsym(RTLD_NEXT, "fstatfs64");
  int failed = real(fd, system);
  if (getenv("SHARDS_REMOTE") != NULL)
    system->f_type = strtol(getenv("SHARDS_REMOTE"), NULL, 16);
  return failed;
}

int fstat64(int fd, struct stat64 *info) {
  static _Atomic ino64_t number;
  int (*real)(int, struct stat64 *);
  *(void **)&real = dlsym(RTLD_NEXT, "fstat64");
  int failed = real(fd, info);
  if (getenv("SHARDS_REMOTE") != NULL && S_ISDIR(info->st_mode))
    info->st_dev = 1;
  if (getenv("SHARDS_NEW_NUMBERS") != NULL)
    info->st_ino = ++number;
  return failed;
}

/* tar has reasons of its own to fail. */
static bool has_rights(void) {
  return getenv("SHARDS_NO_LINKS") == NULL || strcmp(program_invocation_short_name, "tar") == 0;
}

int fchmod(int fd, mode_t mode) {
  int (*real)(int, mode_t);
  *(void **)&real = dlsym(RTLD_NEXT, "fchmod");
  if (has_rights())
    return real(fd, mode);
  errno = EPERM;
  return -1;
}

int fchown(int fd, uid_t owner, gid_t group) {
  int (*real)(int, uid_t, gid_t);
  *(void **)&real = dlsym(RTLD_NEXT, "fchown");
  if (has_rights())
    return real(fd, owner, group);
  errno = EPERM;
  return -1;
}
