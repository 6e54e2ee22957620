#include "files.h"

#include "common/files.h"
#include "common/keys.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 8 };

typedef struct file {
  char name[32], text[FILES_TEXT];
} file;

static file all[FILES];
static bool full;

void disk_fill(bool is_full) { full = is_full; }

static file *find(const char *name) {
  for (unsigned i = 0; i < FILES; i++)
    if (strcmp(all[i].name, name) == 0)
      return &all[i];
  return NULL;
}

const char *disk_text(const char *name) {
  const file *f = find(name);
  return f == NULL ? NULL : f->text;
}

bool __wrap_files_read(const char *folder, const char *name, char text[FILES_TEXT]) {
  const file *f = find(name);
  (void)folder;
  errno = ENOENT;
  if (f != NULL)
    strcpy(text, f->text);
  return f != NULL;
}

files_written __wrap_files_write(const char *folder, const char *name, const char *text,
                                 unsigned mode) {
  (void)folder;
  (void)mode;
  process_effect();
  world_trace("%s writes %s%s", process_current->name, name, full ? ": disk full" : "");
  const bool late =
      full && world_is_wide() && world_chance(300); /* it fails when it has taken effect */
  if (full && !late) {
    errno = ENOSPC;
    return FILES_OLD;
  }
  file *f = find(name);
  if (f == NULL)
    f = find(""); /* a free one */
  snprintf(f->name, sizeof f->name, "%s", name);
  snprintf(f->text, sizeof f->text, "%s", text);
  process_effect();
  errno = EIO;
  return late ? FILES_DOUBTFUL : FILES_WRITTEN;
}

bool __wrap_keys_read(keys *k, const char *folder) {
  (void)folder;
  *k = (keys){.current_bytes = GFSMITH_KEY_MIN};
  memset(k->current, 7, GFSMITH_KEY_MIN);
  return true;
}

int __real_open(const char *path, int flags, ...);

/* The lock of the folder: only one agent runs. */
int __wrap_open(const char *path, int flags, ...) {
  (void)path;
  return __real_open("/dev/null", flags & ~O_CREAT);
}

int __wrap_flock(int fd, int operation) {
  (void)fd;
  (void)operation;
  return 0;
}
