/* Records as bytes: those of a chunk server's list, which may be many. */
#ifndef STORE_RECORDS_H
#define STORE_RECORDS_H

#include "common/record.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct records {
  uint8_t *bytes;
  size_t filled, room;
} records;

/* Add an encoded record, which can be decoded. False: no memory. */
bool records_add(records *l, const uint8_t *bytes, size_t length);
/* The record at *at, which begins with 0 and moves to the next one. False: there is none. */
bool records_next(const records *l, size_t *at, record *r);
void records_free(records *l);

#endif
