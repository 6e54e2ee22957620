/* Fields, and the table entry of every format for any
 * coefficient. */
#include "tables.h"
#include "../driver.h"
#include "field.h"

static void entries(const gfs_field *field) {
  for (int format = GFS_FORMAT_none; format <= GFS_FORMAT_mulb; format++) {
    size_t bytes = gfs_tables_entry((gfs_format)format);
    uint8_t *entry = malloc(bytes);
    if (entry == NULL)
      exit(1);
    gfs_tables_fill((gfs_format)format, field, (uint8_t)Frama_C_interval(0, 255), entry);
    /*@ assert filled: bytes == 0 || \initialized(entry + (0 .. bytes - 1)); */
    free(entry);
  }
}

static void elements(const gfs_field *field) {
  uint8_t a = (uint8_t)Frama_C_interval(0, 255), b = (uint8_t)Frama_C_interval(0, 255);
  uint8_t row[3], other[3];
  UNKNOWN(row);
  UNKNOWN(other);
  gfs_field_mul(field, a, b);
  gfs_field_inverse(field, (uint8_t)Frama_C_interval(1, 255));
  gfs_field_add_multiple(field, row, other, a, sizeof row);
  gfs_field_scale(field, row, a, sizeof row);
}

int main(void) {
  static const unsigned polynomials[] = {0,     1,     0xff,  0x101, 0x11b,      0x11d,
                                         0x187, 0x1ff, 0x1f5, 0x200, 0x80000000, 0xffffffff};
  for (unsigned n = 0; n < NUMBER_OF(polynomials); n++) {
    gfs_field field;
    if (!gfs_field_polynomial_valid(polynomials[n]))
      continue;
    gfs_field_init(&field, polynomials[n]);
    /*@ assert whole: \initialized(&field.log[0 .. 255]) && \initialized(&field.exp[0 .. 509]); */
    elements(&field);
    entries(&field);
  }
  return 0;
}
