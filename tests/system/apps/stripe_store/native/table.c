/* Reads the number of bytes of a key, then keys, and prints the most keys that one place of a table
 * has, and the number of keys. */
#include "common/table.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct element {
  UT_hash_handle hh;
  char key[];
} element;

int main(int argc, char **argv) {
  size_t bytes = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
  element *all = NULL, *e, *next;
  unsigned most = 0, count;
  while ((e = calloc(1, sizeof *e + bytes)) != NULL && fread(e->key, bytes, 1, stdin) == 1)
    HASH_ADD(hh, all, key, bytes, e);
  free(e);
  for (unsigned n = 0; n < all->hh.tbl->num_buckets; n++)
    most = all->hh.tbl->buckets[n].count > most ? all->hh.tbl->buckets[n].count : most;
  count = HASH_COUNT(all);
  HASH_ITER(hh, all, e, next) {
    HASH_DEL(all, e);
    free(e);
  }
  printf("%u %u\n", most, count);
  return 0;
}
