/* The state of a set's files: where each block is. */
#ifndef TOOL_PAR2_SCAN_H
#define TOOL_PAR2_SCAN_H

#include "control.h"
#include "par2_set.h"

typedef enum par2_state { PAR2_MISSING, PAR2_DAMAGED, PAR2_INTACT } par2_state;

/* The place of a block. */
typedef struct par2_place {
  size_t source; /* a file of the set, or set->file_count + an extra file; SIZE_MAX: none */
  uint64_t start;
  uint64_t size; /* bytes of the block that are there; zeros follow the end of a source */
} par2_place;

typedef struct par2_found {
  const par2_set *set;
  char *const *extra; /* paths of further files with blocks */
  size_t extra_count;
  par2_state *states; /* of each file of the set */
  uint64_t *found;    /* of each file of the set: its blocks that are somewhere */
  par2_place *places; /* of each block */
  size_t lost;        /* blocks that are nowhere */
  uint64_t bytes;     /* of the files of the set that were read */
  uint64_t zeros;     /* behind their short blocks, which were hashed */
} par2_found;

/* Read all files of a set, and the extra ones. TOOL_REFUSED after a message. Free found in any
 * case. */
int par2_scan(par2_found *found, const par2_set *set, char *const *extra, size_t extra_count,
              const options *opt);
void par2_found_free(par2_found *found);

/* The file of a set that a block belongs to. */
size_t par2_file_of(const par2_set *set, size_t block);
/* Bytes of a block that are in its file, not padding. */
uint64_t par2_length_of(const par2_set *set, size_t file, size_t block);
/* Open a source for reading: -1 and errno on failure. */
int par2_open_source(const par2_found *found, size_t source);
const char *par2_source_name(const par2_found *found, size_t source);

#endif
