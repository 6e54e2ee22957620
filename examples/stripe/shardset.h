/* The shard files that a command was given, sorted into one stripe set. */
#ifndef STRIPE_SHARDSET_H
#define STRIPE_SHARDSET_H

#include "shardfile.h"

#include <gfsmith.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

typedef struct shard_slot {
  char *path;  /* where the shard is; if it is missing, where repair will put it */
  bool given;  /* a file was given for this index */
  bool intact; /* as far as is known: header and length, after shard_set_scan the payload too */
  int fd;      /* -1 unless the header and the length are right */
  char why[SHARD_WHY_BYTES]; /* why it is not intact */
} shard_slot;

typedef struct shard_stray { /* a damaged shard of unknown index */
  char *path;
  char why[SHARD_WHY_BYTES];
} shard_stray;

typedef struct shard_set {
  shard_header header; /* of the first shard with an intact header; its index means nothing here */
  char *first_path;    /* that shard */
  mode_t mode;         /* its permissions: what is rebuilt from it gets no more */
  unsigned shards;     /* k + m */
  shard_slot slots[SHARD_MAX_SHARDS];
  shard_stray *strays;
  size_t stray_count;
  gfsmith_codec *codec;
  uint8_t *memory; /* k + m blocks, one behind the other */
} shard_set;

/* Opens files and folders (all *.gfs in them). STRIPE_REFUSED after a message, if two shards do not
 * belong together or have the same index, a file is no shard, none has an intact header, or the
 * code is unknown. Damaged and missing shards are no error here. */
int shard_set_open(shard_set *set, char *const *paths, size_t count);
void shard_set_close(shard_set *set);

/* Reads every payload and compares checksums: sets `intact` and `why`. If all shards prove intact,
 * *parity_ok tells whether the parities match the data (else it is true). `checked` or NULL:
 * whether that could be found out. */
int shard_set_scan(shard_set *set, bool quiet, bool *parity_ok);

unsigned shard_set_intact(const shard_set *set);
/* STRIPE_OK if at least k shards are intact, else a message that lists the others. */
int shard_set_require(const shard_set *set);
/* One line on stdout for each shard that is damaged or missing. */
void shard_set_say_bad(const shard_set *set);

/* Points blocks[i] at the block of shard i in set->memory, for a stripe of `bytes` a shard: the
 * data blocks are then contiguous. */
void shard_set_blocks(const shard_set *set, size_t bytes, uint8_t *blocks[SHARD_MAX_SHARDS]);
/* Chooses the k intact shards to read, data first; needs shard_set_require. */
void shard_set_sources(const shard_set *set, bool use[SHARD_MAX_SHARDS]);
/* Reads the blocks of the chosen shards of a stripe; STRIPE_REFUSED after a message. */
int shard_set_read(const shard_set *set, const bool *use, uint64_t stripe, uint8_t *const *blocks);

/* A codec for the shape, or STRIPE_REFUSED after one line that starts with `prefix`. */
int shard_codec(gfsmith_codec **codec, const char *prefix, const char *code, unsigned k,
                unsigned m);

#endif
