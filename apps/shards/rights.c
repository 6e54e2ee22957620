#include "rights.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DATA = 0666, OWNER = 0600, ALL = 0777 };
enum { GROUP_SHIFT = 3, ENTER = S_IXGRP | S_IXOTH };

static const uid_t no_owner = (uid_t)-1;
static const gid_t no_group = (gid_t)-1;

static mode_t masked(mode_t mode) {
  mode_t mask = umask(0);
  umask(mask);
  return mode & ~mask & DATA;
}

/* The bits of the group, as far as all users have them. */
static mode_t without_group(mode_t mode) {
  mode_t others = mode & S_IRWXO;
  return (mode & ~(mode_t)S_IRWXG) | (mode & others << GROUP_SHIFT);
}

static const char list[] = "system.posix_acl_access";

/* Does a call for a list fail with this error if there is none? */
static bool is_no_list(int error) {
  return error == ENODATA || error == EOPNOTSUPP || error == ENOSYS;
}

/* With an access control list, the bits of the group are a limit of the list, and the group may
 * have fewer rights. A list that cannot be read counts. The path may be a symbolic link. */
static bool has_list(const char *path) {
  return getxattr(path, list, NULL, 0) >= 0 || !is_no_list(errno);
}

/* A new file has the list that its folder has for new files. Returns whether it has none then. */
static bool remove_list(int fd) { return fremovexattr(fd, list) == 0 || is_no_list(errno); }

static mode_t mode_of(const char *path, const struct stat *info) {
  return has_list(path) ? without_group(info->st_mode) : info->st_mode;
}

rights rights_new(void) { return (rights){masked(DATA), no_owner, no_group}; }

rights rights_private(void) { return (rights){OWNER, no_owner, no_group}; }

void rights_narrow(rights *given, const char *path, const struct stat *info) {
  given->mode &= mode_of(path, info);
  if (given->group == no_group)
    given->group = info->st_gid;
  else if (given->group != info->st_gid)
    given->mode = without_group(given->mode);
}

void rights_narrow_folder(rights *given, const char *path, const struct stat *info) {
  mode_t lacking = ~mode_of(path, info) & ENTER;
  if (lacking != 0 && given->group != info->st_gid)
    lacking = ENTER;
  given->mode &= ~(lacking * S_IRWXO); /* all bits of a class instead of its last one */
}

rights rights_like(const char *path, const struct stat *info) {
  rights given = rights_new();
  rights_narrow(&given, path, info);
  return given;
}

rights rights_again(const char *path, const struct stat *info) {
  return (rights){mode_of(path, info) & ALL, info->st_uid, info->st_gid};
}

int rights_set(int fd, mode_t mode) {
  bool lacking = fchmod(fd, mode) != 0;
  return !lacking || errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -1;
}

int rights_give(int fd, const rights *given, mode_t *mode) {
  bool kept =
      fchown(fd, given->owner, given->group) == 0 || fchown(fd, no_owner, given->group) == 0;
  *mode = remove_list(fd) && kept ? given->mode : without_group(given->mode);
  return rights_set(fd, *mode);
}
