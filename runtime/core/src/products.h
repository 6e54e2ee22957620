/* products.h: tables of products by elements of GF(2^8) or GF(2^16), for the kernels of dot. */
#ifndef GFS_PRODUCTS_H
#define GFS_PRODUCTS_H

#include "transform.h"

/* Tables of the products by c << 4 p, c < 16: entry number 16 p + c. The table of a product is
 * linear in the constant, so that of any constant is the sum of one for each 4 bits. */
typedef struct gfs_products {
  unsigned parts; /* 4 bits each */
  size_t entry;   /* bytes of a table */
  uint8_t *tables;
} gfs_products;

/* Set up the products of elements in the basis `from`, with results in the basis `to`. Errors:
 * GFSMITH_ENOMEM. */
gfsmith_status gfs_products_create(gfs_products *p, const gfs_transform *t, const gfs_cantor *field,
                                   gfs_basis from, gfs_basis to);

void gfs_products_destroy(gfs_products *p);

/* Write the table of the product by an element: t->entry bytes. */
void gfs_products_table(const gfs_products *p, unsigned element, uint8_t *table);

#endif
