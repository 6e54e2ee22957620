/* The shard files given to a command, as one stripe set. */
#ifndef STRIPE_SHARDSET_H
#define STRIPE_SHARDSET_H

#include "shardfile.h"

#include <gfsmith.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

typedef struct shard_slot {
  char *path;  /* path of the shard; if it is missing, the path that repair will use */
  bool given;  /* a file was given for this index */
  bool intact; /* as far as known: header and length; after shard_set_scan also the payload */
  int fd;      /* -1 unless header and length are valid */
  char why[SHARD_WHY_BYTES]; /* the reason if it is not intact */
} shard_slot;

typedef struct shard_stray { /* a damaged shard of unknown index */
  char *path;
  char why[SHARD_WHY_BYTES];
} shard_stray;

typedef struct shard_set {
  shard_header header; /* of the first shard with an intact header; its index has no meaning here */
  char *first_path;    /* path of that shard */
  mode_t mode;         /* permissions of that shard, which rebuilt files get, too */
  unsigned shards;     /* k + m */
  shard_slot slots[SHARD_MAX_SHARDS];
  shard_stray *strays;
  size_t stray_count;
  gfsmith_codec *codec;
  uint8_t *memory; /* k + m blocks, contiguous */
} shard_set;

/* Open files and folders (all *.gfs in them). STRIPE_REFUSED after a message if two shards do not
 * belong together or have the same index, a file is not a shard, none has an intact header, or the
 * code is unknown. Damaged and missing shards are not errors here. */
int shard_set_open(shard_set *set, char *const *paths, size_t count);
void shard_set_close(shard_set *set);

/* Read every payload and compare checksums: sets `intact` and `why`. If all shards are intact,
 * *parity_ok is whether the parities match the data (else it is true). `checked` (may be NULL):
 * whether the parities could be compared. */
int shard_set_scan(shard_set *set, bool quiet, bool *parity_ok);

unsigned shard_set_intact(const shard_set *set);
/* STRIPE_OK if at least k shards are intact, else a message that lists the others. */
int shard_set_require(const shard_set *set);
/* Print one line on stdout for each shard that is damaged or missing. */
void shard_set_say_bad(const shard_set *set);

/* Set blocks[i] to the block of shard i in set->memory, for a stripe with `bytes` per shard: the
 * data blocks are then contiguous. */
void shard_set_blocks(const shard_set *set, size_t bytes, uint8_t *blocks[SHARD_MAX_SHARDS]);
/* Choose the k intact shards to read, data first; shard_set_require must have succeeded. */
void shard_set_sources(const shard_set *set, bool use[SHARD_MAX_SHARDS]);
/* Read the blocks of the chosen shards of a stripe; STRIPE_REFUSED after a message. */
int shard_set_read(const shard_set *set, const bool *use, uint64_t stripe, uint8_t *const *blocks);

/* Create a codec for the shape; STRIPE_REFUSED after a message that starts with `prefix`. */
int shard_codec(gfsmith_codec **codec, const char *prefix, const char *code, unsigned k,
                unsigned m);

#endif
