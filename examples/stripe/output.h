/* Files that appear whole or not at all: a temporary file with a unique name in the folder of the
 * final one, then fsync, rename, fsync of the folder. Plain reading and writing with retries, too.
 */
#ifndef STRIPE_OUTPUT_H
#define STRIPE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct output {
  char *final_path; /* owned; NULL: not planned */
  char *temp_path;
  char *folder;
  int fd;    /* -1: not open */
  bool made; /* the temporary file is there */
} output;

/* Functions that return int: STRIPE_OK, or STRIPE_REFUSED after a message (none if a signal came).
 */

/* Notes where the file shall go. Allocates all that is needed from here on. */
void output_plan(output *out, const char *final_path);
/* Creates the temporary files, with the permissions `mode` less those of the umask. */
int output_open(output *outs, size_t count, mode_t mode);
/* Writes all bytes at the offset. */
int output_write(output *out, const void *bytes, size_t size, uint64_t offset);
/* Flushes all, then renames all, unless a signal came before the first rename. If `replace` is
 * false, a final path that exists by now is refused, and what was renamed before it is taken back.
 */
int output_commit(output *outs, size_t count, bool replace);
/* Frees, and removes what was not committed. Zeroed outputs are skipped. */
void output_discard(output *outs, size_t count);

/* Reads exactly `size` bytes at the offset unless the file ends before: the number read, or -1 and
 * errno (EINTR: a signal came). */
ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* "FOLDER/NAME", and the folder of a path ("." if none); free() them. */
char *path_join(const char *folder, const char *name);
char *path_folder(const char *path);
bool path_exists(const char *path);

/* Zeroed memory, a copy of a string, a longer array: they end the process with a message when
 * memory is out. Called before the first output of a command is opened, so that nothing is left
 * behind. */
void *must_alloc(size_t count, size_t size);
char *must_copy(const char *text);
void *must_grow(void *memory, size_t count, size_t size);
/* `size` bytes on a 64-byte boundary. */
void *must_aligned(size_t size);

#endif
