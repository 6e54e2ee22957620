#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE "place"
#define UNBORN " 0.0\n" /* the birth of a file if the system does not tell it */

/* The machine, and number and birth of the database's file: those of a copy differ. False: errno.
 */
static bool locate(const char *folder, char text[FILES_TEXT]) {
  char path[FILES_PATH];
  struct statx info;
  if (!files_path(path, folder, PLACE_DATABASE) ||
      statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &info) != 0)
    return false;
  if (!files_read("/etc", "machine-id", text)) {
    if (errno != ENOENT)
      return false;
    strcpy(text, "unknown");
  }
  size_t at = strcspn(text, "\n");
  bool born = (info.stx_mask & STATX_BTIME) != 0;
  snprintf(text + at, FILES_TEXT - at, " %" PRIu64 " %" PRId64 ".%" PRIu32 "\n",
           (uint64_t)info.stx_ino, born ? (int64_t)info.stx_btime.tv_sec : 0,
           born ? info.stx_btime.tv_nsec : 0);
  return true;
}

static bool unborn(const char *text) { return strcmp(strrchr(text, ' '), UNBORN) == 0; }

/* A newer kernel may know the birth of a file of before, and a sandbox may hide it: without one,
 * the rest counts. */
static bool is_same(const char *here, const char *noted) {
  const char *birth = strrchr(noted, ' ');
  if (birth == NULL || !(unborn(here) || unborn(noted)))
    return strcmp(here, noted) == 0;
  const size_t rest = (size_t)(birth - noted);
  return (size_t)(strrchr(here, ' ') - here) == rest && memcmp(here, noted, rest) == 0;
}

/* Without a database or a note, the folder is new, or the operator has removed the note. False:
 * errno. */
static bool is_copy(const char *folder, bool *copy) {
  char here[FILES_TEXT], noted[FILES_TEXT];
  *copy = false;
  if (!locate(folder, here) || !files_read(folder, NOTE, noted))
    return errno == ENOENT;
  *copy = !is_same(here, noted);
  return true;
}

static bool has(const char *folder, const char *name) {
  char path[FILES_PATH];
  return files_path(path, folder, name) && access(path, F_OK) == 0;
}

/* Or has place_clear been interrupted? */
static bool has_database(const char *folder) {
  return has(folder, PLACE_DATABASE) || has(folder, PLACE_DAMAGED);
}

/* The name of a folder without a database may not be on disk yet, also if it is an older one: the
 * process that made it may have been killed. */
static bool make_folder(const char *folder) {
  char path[FILES_PATH];
  if (!files_folder(path, folder))
    return false;
  bool made = mkdir(path, 0700) == 0;
  if (!made && errno != EEXIST)
    return false;
  if (has_database(folder))
    return true;
  if (!files_above(path, folder))
    return false;
  return files_flush(path) || !made;
}

/* The values in a file of an earlier release, or of the operator, are for the store's user only. A
 * file system without permissions stays as it is. */
static void hide_values(const char *folder) {
  static const char *const names[] = {PLACE_DATABASE, PLACE_DATABASE "-wal", PLACE_DAMAGED};
  char path[FILES_PATH];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (files_path(path, folder, names[i]))
      (void)chmod(path, S_IRUSR | S_IWUSR);
}

kept_status place_take(const char *folder, bool used, int *lock, char *reason, size_t room) {
  *lock = -1;
  if (used && !has_database(folder)) {
    snprintf(
        reason, room,
        "%s: its database is not there: mount its disk, or create an empty file " PLACE_DATABASE
        " if it is lost",
        folder);
    return KEPT_GONE;
  }
  *lock = make_folder(folder) ? files_lock(folder, "lock") : -1;
  if (*lock < 0) {
    bool locked = errno == EWOULDBLOCK;
    snprintf(reason, room, "%s: %s", folder,
             locked ? "another chunk server uses it" : strerror(errno));
    return locked ? KEPT_DAMAGED : KEPT_GONE;
  }
  hide_values(folder);
  bool copy;
  if (!is_copy(folder, &copy)) {
    snprintf(reason, room, "%s: %s", folder, strerror(errno));
    return KEPT_GONE;
  }
  if (!copy)
    return KEPT_OK;
  snprintf(reason, room,
           "%s was copied or moved: if its original will never be used again, remove %s/" NOTE,
           folder, folder);
  return KEPT_DAMAGED;
}

bool place_note(const char *folder) {
  char here[FILES_TEXT], noted[FILES_TEXT];
  if (!locate(folder, here))
    return false;
  if (files_read(folder, NOTE, noted) && is_same(here, noted) && (unborn(here) || !unborn(noted)))
    return true;
  return files_write(folder, NOTE, here, 0600) == FILES_WRITTEN;
}

static bool remove_file(const char *folder, const char *name) {
  char path[FILES_PATH];
  return files_path(path, folder, name) && (unlink(path) == 0 || errno == ENOENT);
}

/* The note goes first: the next database, without a note of its own yet, would look like a copy. */
bool place_clear(const char *folder) {
  char from[FILES_PATH], to[FILES_PATH];
  if (!remove_file(folder, NOTE) || !files_flush(folder) ||
      !remove_file(folder, PLACE_DATABASE "-wal"))
    return false;
  return files_path(from, folder, PLACE_DATABASE) && files_path(to, folder, PLACE_DAMAGED) &&
         rename(from, to) == 0 && files_flush(folder);
}
