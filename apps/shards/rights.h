/* The permissions of written files: no user may read bytes in them who may not read these bytes in
 * the file that they come from.
 */
#ifndef TOOL_RIGHTS_H
#define TOOL_RIGHTS_H

#include <sys/stat.h>
#include <sys/types.h>

typedef struct rights {
  mode_t mode;
  uid_t owner; /* (uid_t)-1: that of the run */
  gid_t group; /* (gid_t)-1: the same */
} rights;

/* Of a new file, as the umask permits, and of one for the owner only. */
rights rights_new(void);
rights rights_private(void);
/* For a new file with bytes of this file, too: at most its permissions, and its group. With files
 * of several groups, the group may do no more than all users. */
void rights_narrow(rights *given, const char *path, const struct stat *info);
/* The same for a folder around this file, but not around the new one: who may not enter it, may not
 * read the new file. */
void rights_narrow_folder(rights *given, const char *path, const struct stat *info);
/* Of a new file with bytes of another one: its permissions, as the umask permits, and its group. */
rights rights_like(const char *path, const struct stat *info);
/* Of a file that is written again: those of the old one, and its owner and group. */
rights rights_again(const char *path, const struct stat *info);
/* Set the permissions of an open file that was created with 0600. Some file systems have none, or
 * refuse to change them: those that they give remain. Returns 0, or -1 and errno. */
int rights_set(int fd, mode_t mode);
/* Give them to an open file of the run, without the access control list that its folder has for new
 * files. Its group gets no more than all users do if this run cannot set it. Returns 0, or -1 and
 * errno; *mode: the permissions. */
int rights_give(int fd, const rights *given, mode_t *mode);

#endif
