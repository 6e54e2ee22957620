/* A list of versions. */
#ifndef STORE_VERSIONS_H
#define STORE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct versions {
  uint64_t *at;
  size_t count, room;
} versions;

/* False: no memory. */
bool versions_add(versions *v, uint64_t version);
void versions_free(versions *v);

#endif
