/* Values that a driver does not fix. */
#ifndef ANALYSIS_DRIVER_H
#define ANALYSIS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <__fc_builtin.h>

/* The object has any contents. */
#define UNKNOWN(object) Frama_C_make_unknown((char *)&(object), sizeof(object))

/* A block of `bytes` bytes with any contents. */
static uint8_t *block(size_t bytes) {
  uint8_t *at = malloc(bytes);
  if (at == NULL)
    exit(1);
  if (bytes > 0)
    Frama_C_make_unknown((char *)at, bytes);
  return at;
}

/* Any truth value. */
static bool any(void) { return Frama_C_interval(0, 1); }

#define NUMBER_OF(array) (sizeof(array) / sizeof *(array))

#endif
