/* The shard files given to a command, as one set. */
#ifndef TOOL_SET_H
#define TOOL_SET_H

#include <gfsmith_shards.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct shard_file {
  char *path;
  bool listed;       /* found in a folder */
  int fd;            /* -1: it cannot be opened */
  struct stat info;  /* when it was opened, also if that failed */
  uint64_t at;       /* position of the next read */
  uint64_t behind;   /* the device cannot read the bytes before this position */
  unsigned failures; /* of reads in a row (medium.h) */
  int error;         /* errno of a failed open or read */
  gfsmith_shards_header header;
  const char *why; /* NULL: the header is valid */
  bool foreign;    /* no shard by its first bytes */
  bool leftover;   /* of another generation, or of a set that does not count */
  int index;       /* in the set; -1: not a part of it */
} shard_file;

/* A set that does not count, the owner of its shards, and the folder of its record. */
typedef struct shard_incomplete {
  gfsmith_shards_header header;
  uid_t owner;
  char *folder;
  bool whole; /* it counts: all its shards are there */
} shard_incomplete;

typedef struct shard_set {
  shard_file *files;
  size_t count;
  const shard_file *first; /* the first file of the set with a valid header */
  gfsmith_shards_header header;
  unsigned shards; /* k + m */
  unsigned leftovers;
  shard_incomplete *incomplete;
  size_t incomplete_count;
  shard_file *given[GFSMITH_MAX_SHARDS]; /* by index; NULL: missing */
  char *missing[GFSMITH_MAX_SHARDS];     /* by index: path of a missing shard */
  gfsmith_shards_source sources[GFSMITH_MAX_SHARDS];
  unsigned source_count;
  gfsmith_shards_report report;
} shard_set;

/* Add files and the *.gfs of folders without opening them. */
int set_add(shard_set *set, char *const *paths, size_t count);
/* Add files and folders and open them, and choose the highest generation with enough shards.
 * TOOL_REFUSED after a message if two shards do not belong together or have the same index, a file
 * is not a shard, or none has a valid header. Damaged and missing shards are not errors here. */
int set_open(shard_set *set, char *const *paths, size_t count);
/* Read the sources from their beginning again. */
void set_rewind(shard_set *set);
void set_close(shard_set *set);

const char *set_path(const shard_set *set, unsigned index);
/* An estimate of the original's length, for progress. */
uint64_t set_length(const shard_set *set);
bool set_intact(const shard_set *set, unsigned index);
unsigned set_count_intact(const shard_set *set);
/* A shard with a damaged header of unknown index. */
bool set_stray(const shard_file *file);
unsigned set_strays(const shard_set *set);
/* The reason why a shard is not intact. */
void set_why(const shard_set *set, unsigned index, char *text, size_t size);
/* One line on stdout for each shard that is damaged or missing, and set_say_others. */
void set_say_bad(const shard_set *set);
/* One line on stdout for each other set of which files are present. */
void set_say_others(const shard_set *set);
/* One line on stdout for each set that does not count. */
void set_say_incomplete(const shard_set *set);
/* The message for a failed call. */
int set_refuse(const shard_set *set, int status);

#endif
