/* batches.c: calls on stripes of a wide code, one for each stripe and one for all; see batches.py.
 */
#include "gfsmith_wide.h"

/* A batch: encode, or repair if there are flags. */
typedef struct stripes {
  const gfsmith_wide *wide;
  size_t len, count;
  unsigned k, m;
  const uint8_t *const *data;
  uint8_t *const *parity;
  uint8_t *const *shards;
  const bool *present;
} stripes;

__attribute__((visibility("default"))) void batches_single(const stripes *s, unsigned calls);
__attribute__((visibility("default"))) void batches_all(const stripes *s, unsigned calls);

void batches_single(const stripes *s, unsigned calls) {
  for (unsigned n = 0; n < calls; n++)
    for (size_t i = 0; i < s->count; i++)
      if (s->present == NULL)
        gfsmith_wide_encode(s->wide, s->len, s->data + i * s->k, s->parity + i * s->m);
      else
        gfsmith_wide_reconstruct(s->wide, s->len, s->shards + i * (s->k + s->m), s->present, NULL);
}

void batches_all(const stripes *s, unsigned calls) {
  for (unsigned n = 0; n < calls; n++)
    if (s->present == NULL)
      gfsmith_wide_encode_stripes(s->wide, s->len, s->count, s->data, s->parity);
    else
      gfsmith_wide_reconstruct_stripes(s->wide, s->len, s->count, s->shards, s->present, NULL);
}
