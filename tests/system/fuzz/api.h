/* api.h: calls of the public C interface, decoded from bytes, with their expected statuses and
 * results. */
#ifndef FUZZ_API_H
#define FUZZ_API_H

#include <gfsmith.h>
#include <gfsmith_algebra.h>
#include <gfsmith_parallel.h>
#include <gfsmith_plan.h>
#include <gfsmith_raid.h>

#include "arena.h"
#include "model.h"

/* The current codec, with the data that the model needs. */
typedef struct subject {
  gfsmith_codec *codec;
  unsigned k, m, polynomial;
  size_t packet; /* 0: ordinary layout */
  uint8_t matrix[MODEL_ELEMENTS];
} subject;

/* Takes a length that the layout allows and that the model computes quickly; seldom 0. */
size_t api_length(input *in, const subject *s);

/* Places shards 0 .. k + m - 1 with the given contents. */
void api_place(input *in, const subject *s, size_t len);

/* Places them, and computes the parities of the data by the library. */
void api_place_consistent(input *in, const subject *s, size_t len);

/* Computes the parities of the data in the arena by the model: expected[i] has len bytes. */
void api_parities(const subject *s, size_t len, uint8_t (*expected)[ARENA_BYTES]);

/* Pointers to places first .. first + count - 1. A fault of the array: one pointer is NULL, or the
 * array itself. */
typedef struct pointers {
  uint8_t *list[MODEL_SHARDS + 3];
  uint8_t **array; /* NULL, or list */
  bool faulty;
} pointers;
void api_pointers(pointers *p, unsigned first, unsigned count, unsigned fault);

/* Takes the next fault; 0, the most frequent one, is none. */
unsigned api_fault(input *in);

/* Takes an executor for the parallel function of the same name; NULL: call the serial function.
 * Tasks run in the calling thread, each once, in any order. Valid until the next call. */
const gfsmith_executor *api_executor(input *in);

/* One kind of call each. Those on a codec require s->codec != NULL. */
void api_create(input *in, subject *s);
void api_settings(input *in, subject *s);
void api_encode(input *in, const subject *s);
void api_append(input *in, const subject *s);
void api_update_many(input *in, const subject *s);
void api_batch(input *in, const subject *s);
void api_check(input *in, const subject *s);
void api_locate(input *in, const subject *s);
void api_correct(input *in, const subject *s);
void api_determined(input *in, const subject *s);
void api_reconstruct(input *in, const subject *s);
void api_plan(input *in, subject *s);
void api_raid(input *in);
void api_algebra(input *in);

#endif
