/* LD_PRELOAD: a file system without RENAME_NOREPLACE, such as NFS; with SHARDS_NO_LINKS, also
 * without hard links, such as many file systems in user space. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

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
