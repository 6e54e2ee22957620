/* Numbers in options: whole numbers, and bytes with or without a unit (4096, 64K, 1M). */
#ifndef APPS_NUMBERS_H
#define APPS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Read a text of digits only. False: it is not one, or not below 2^64. */
static inline bool number_read(const char *text, size_t length, uint64_t *value) {
  uint64_t n = 0;
  for (size_t i = 0; i < length; i++)
    if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
        __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
      return false;
  *value = n;
  return length > 0;
}

/* Read a number with a unit: K, M or G, powers of 1024, in either case, as in the options of
 * `gfsmith`. plain: bytes that a number without a unit counts. False: it is not one. */
static inline bool size_read(const char *text, uint64_t plain, uint64_t *bytes) {
  static const char units[] = "KkMmGg";
  size_t length = strlen(text);
  const char *unit = length > 0 ? strchr(units, text[length - 1]) : NULL;
  uint64_t scale = unit != NULL ? UINT64_C(1) << 10 * ((unit - units) / 2 + 1) : plain;
  uint64_t n;
  return number_read(text, length - (unit != NULL), &n) && !__builtin_mul_overflow(n, scale, bytes);
}

#endif
