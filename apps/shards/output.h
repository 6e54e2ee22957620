/* Output files that appear completely or not at all: a temporary file with a unique name in the
 * folder of the final one, then fsync, rename, fsync of the folder. Also reading and writing with
 * retries.
 */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include "rights.h"

#include <gfsmith_shards.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct output {
  char *final_path; /* owned; NULL: not planned */
  char *temp_path;
  char *folder;
  int at;        /* the open folder, which the caller closes; AT_FDCWD: it is found by its path */
  int fd;        /* -1: not open */
  bool rests;    /* the temporary file is open only while it is used */
  mode_t mode;   /* of the final file */
  int error;     /* errno of a failed write */
  bool made;     /* the temporary file exists */
  bool done;     /* it has its final path */
  bool replace;  /* an existing file may be replaced */
  uint64_t size; /* bytes written */
} output;

/* Functions that return int: TOOL_OK, or TOOL_REFUSED after a message (none after a signal). */

/* Set the final path, which the output owns; NULL: there was no memory for it. Later functions do
 * not allocate memory. A caller that sets `at` afterwards has all names made in that open folder,
 * even if its path leads elsewhere meanwhile. */
int output_plan(output *out, char *final_path, bool replace);
/* Create the temporary files. */
int output_open(output *outs, size_t count, const rights *given);
/* Close a temporary file until it is used, because there are too many for all to be open. */
int output_rest(output *out);
/* A descriptor of the temporary file, and its end: 0, or -1 and errno. Several tasks may use it. */
int output_use(const output *out);
int output_end_use(const output *out, int fd);
/* Append all bytes; the callback of a sink. False: out->error is the reason. */
bool output_write(void *out, const void *bytes, size_t size);
/* Write all bytes at an offset. False and errno on failure. Tasks may share an output. */
bool output_write_at(const output *out, const void *bytes, size_t size, uint64_t offset);
/* The message for the first output with an error. */
int output_failure(const output *outs, size_t count);
/* Flush and close all files. Refused also if a signal came. */
int output_flush(output *outs, size_t count);
/* Rename flushed files until one cannot be renamed: a path exists that may not be replaced, for
 * example. Those before it are `done`. */
int output_publish(output *outs, size_t count);
/* Publish flushed files, and flush their folders. */
int output_settle(output *outs, size_t count);
/* Flush, rename, and flush the folders. */
int output_commit(output *outs, size_t count);
/* Rename without replacing an existing target, in an open folder or at AT_FDCWD. Returns 0, or -1
 * and errno. */
int rename_new(int at, const char *from, const char *to);
/* Is this the name of a temporary file of a run? */
bool is_temporary(const char *name);
/* The path of an output relative to its `at`. */
const char *output_name(const output *out, const char *path);
/* Make the names in a folder permanent: the open folder `at`, or at AT_FDCWD the one of this path.
 */
int output_flush_folder(int at, const char *folder);
/* Make everything below a folder permanent, with the rest of its file system, or file by file in
 * one in user space. */
int output_flush_tree(const char *folder);
/* Free the outputs, and remove uncommitted files. Zeroed outputs are skipped. */
void output_discard(output *outs, size_t count);

/* Read bytes at the offset, perhaps fewer than `size`: those before one that cannot be read, for
 * example. Return the number read, 0 at the end of the file, or -1 and errno (EINTR: a signal
 * came).
 */
ssize_t read_part(int fd, void *bytes, size_t size, uint64_t offset);
/* Read exactly `size` bytes at the offset, or less at the end of the file. Return the number read,
 * or -1 and errno (EINTR: a signal came). */
ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset);
/* Read the header at the beginning of a file. Return whether it is one (0: *why, if not NULL, is
 * the reason), or -1 and errno. */
int read_header(int fd, gfsmith_shards_header *header, const char **why);
/* Open a file that exists, or return -1 and errno. A FIFO does not block. If another process, such
 * as a file server, has a lease for the file, the call waits until the system ends the lease. */
int open_at(int at, const char *path, int flags);
/* The same for a path below an open folder, no part of which is a symbolic link. */
int open_below(int at, const char *name, int flags);
/* The same, for reading. */
int open_input(const char *path);

/* Read or write a pipe; a signal ends both. */
ssize_t read_some(int fd, void *bytes, size_t size);
bool write_all(int fd, const void *bytes, size_t size);

/* "FOLDER/NAME", and the folder of a path ("." if none); the caller frees them. path_try_join
 * returns NULL without memory, the others end the process as must_alloc does. */
char *path_try_join(const char *folder, const char *name);
char *path_join(const char *folder, const char *name);
char *path_folder(const char *path);
bool path_exists(const char *path);
/* Call `each` with the names in an open folder until it returns another number than 0, which is the
 * result. Otherwise return 0, or -1 and errno if the folder cannot be read. The folder is opened
 * each time: some file systems, such as sshfs, list an open folder only once. */
typedef int folder_visit(void *context, const char *name);
int folder_each(int folder, folder_visit *each, void *context);
/* Is there no file of a name which cannot be opened with this error? Many file systems refuse some
 * names, such as bytes that are no UTF-8. */
bool is_absent(int error);
/* Refuse a name that the file system does not give to a file, such as a long one, before the file
 * is computed. */
int path_check_name(const char *path);
/* The part of a path behind its last slash. */
const char *path_last(const char *path);
/* The state of a file before or after its bytes are read. Its pages are written back, since a
 * program that has mapped one sets the times of the file only by the first change after that, and
 * in file systems in user space by the write-back itself (not in tmpfs and overlayfs). Returns 0,
 * or -1 and errno. */
int file_state(int fd, struct stat *info);
/* Is it the same file, whose bytes and attributes nothing has changed in between? */
bool file_unchanged(const struct stat *before, const struct stat *now);

/* Zeroed memory, a copy of a string, a longer array. Without memory they end the process with a
 * message. They are called before a command locks a folder or opens its first output, so that no
 * files are left behind. */
void *must_alloc(size_t count, size_t size);
char *must_copy(const char *text);
void *must_grow(void *memory, size_t count, size_t size);

#endif
