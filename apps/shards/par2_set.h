/* A set of PAR2: files, their blocks and checksums, and recovery blocks. */
#ifndef TOOL_PAR2_SET_H
#define TOOL_PAR2_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "par2_format.h"
#include "par2_packets.h"

typedef struct par2_checksums {
  uint8_t md5[MD5_BYTES];
  uint32_t crc; /* both of a block that is padded with zeros to its size */
} par2_checksums;

typedef struct par2_file {
  uint8_t id[PAR2_ID];
  uint8_t md5[MD5_BYTES];  /* of the file */
  uint8_t head[MD5_BYTES]; /* of its first 16 KiB */
  uint64_t length;
  char *name;             /* relative to the folder; NULL: no description was found */
  par2_checksums *blocks; /* NULL: unknown */
  size_t first;           /* its first block in the set; SIZE_MAX: it cannot be rebuilt */
  size_t count;           /* of blocks */
  struct stat info;       /* of create: before it was read */
} par2_file;

typedef struct par2_recovery {
  unsigned exponent;
  size_t file; /* index in packets.paths */
  uint64_t start;
} par2_recovery;

typedef struct par2_set {
  char *folder; /* of the files */
  char *name;   /* of the set, for messages */
  uint8_t id[PAR2_ID];
  uint64_t block;
  par2_file *files; /* those of the recovery set come first */
  size_t file_count;
  size_t blocks;           /* of all files of the recovery set */
  par2_recovery *recovery; /* in ascending order of exponents, each once */
  size_t recovery_count;
  par2_packets packets;
} par2_set;

/* Set the name and the folder. TOOL_REFUSED after a message if it is no name of a file. */
int par2_set_name(par2_set *set, const char *path);
/* Read a set from a file of its packets, those next to it with the same name, and those of `more`
 * that end with .par2. TOOL_REFUSED after a message. */
int par2_set_read(par2_set *set, const char *path, char *const *more, size_t count);
void par2_set_free(par2_set *set);

/* Does the name of a file end with .par2, in any case, behind a name? */
bool par2_is_volume(const char *path);
/* The length of a name without .par2 and .volN+M. */
size_t par2_base_length(const char *name);

/* Open a file below a folder. No part of the name may be a symbolic link: errno is ELOOP then.
 * Returns -1 and errno, or the file. */
int par2_open_below(const char *folder, const char *name, int flags);

#endif
