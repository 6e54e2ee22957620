#include "products.h"

#include <stdlib.h>
#include <string.h>

enum { PART_BITS = 4, PART_TABLES = 1 << PART_BITS };

/* sum += table; both have whole numbers of 64 bits. */
static void add_table(size_t bytes, uint8_t *sum, const uint8_t *table) {
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t a, b;
    memcpy(&a, sum + at, sizeof a);
    memcpy(&b, table + at, sizeof b);
    a ^= b;
    memcpy(sum + at, &a, sizeof a);
  }
}

/* The first table of a part is 0. */
static void fill_part(const gfs_transform *t, const gfs_cantor *field, gfs_basis from, gfs_basis to,
                      unsigned lowest, uint8_t *tables) {
  for (unsigned bit = 1, power = lowest; bit < PART_TABLES; bit *= 2, power *= 2) {
    uint8_t *of_bit = tables + bit * t->entry;
    gfs_transform_table(t, field, field->logarithm[power], from, to, of_bit);
    for (unsigned c = 1; c < bit; c++) {
      memcpy(of_bit + c * t->entry, of_bit, t->entry);
      add_table(t->entry, of_bit + c * t->entry, tables + c * t->entry);
    }
  }
}

gfsmith_status gfs_products_create(gfs_products *p, const gfs_transform *t, const gfs_cantor *field,
                                   gfs_basis from, gfs_basis to) {
  *p = (gfs_products){.parts = 8 / PART_BITS * t->planes, .entry = t->entry};
  p->tables = calloc((size_t)p->parts * PART_TABLES, p->entry);
  if (p->tables == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned part = 0; part < p->parts; part++)
    fill_part(t, field, from, to, 1u << PART_BITS * part,
              p->tables + (size_t)part * PART_TABLES * p->entry);
  return GFSMITH_OK;
}

void gfs_products_destroy(gfs_products *p) { free(p->tables); }

void gfs_products_table(const gfs_products *p, unsigned element, uint8_t *table) {
  memcpy(table, p->tables + element % PART_TABLES * p->entry, p->entry);
  for (unsigned n = 1; n < p->parts; n++) {
    unsigned number = n * PART_TABLES + (element >> PART_BITS * n) % PART_TABLES;
    add_table(p->entry, table, p->tables + number * p->entry);
  }
}
