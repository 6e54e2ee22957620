/* Reconstruct, plans and determined shards: some matrices, every loss, any data. */
#include "gfsmith_plan.h"
#include "shards.h"

static void flags(const call *c, unsigned bits, bool *set) {
  for (unsigned n = 0; n < c->k + c->m; n++)
    set[n] = bits >> n & 1;
}

static void repair(call *c, unsigned loss) {
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS], determined[GFSMITH_MAX_SHARDS];
  gfsmith_plan *plan;
  flags(c, loss, present);
  flags(c, ~loss >> 1, wanted);
  gfsmith_determined(c->codec, present, determined);
  gfsmith_reconstruct(c->codec, c->len, c->shard, present, NULL);
  gfsmith_reconstruct(c->codec, c->len, c->shard, present, wanted);
  if (gfsmith_plan_create(&plan, c->codec, present, wanted) != GFSMITH_OK)
    return;
  gfsmith_plan_run(plan, c->len, c->shard);
  gfsmith_plan_destroy(plan);
}

static void every_loss(call *c) {
  make_shards(c, 100);
  for (unsigned loss = 0; loss < 1u << (c->k + c->m); loss++)
    repair(c, loss);
  free_shards(c);
  gfsmith_codec_destroy(c->codec);
}

int main(void) {
  static const uint8_t matrix[] = {1, 2, 3, 0, 0, 4};
  call c = {.k = 2, .m = 2};
  if (gfsmith_codec_create(&c.codec, "cauchy", c.k, c.m) == GFSMITH_OK)
    every_loss(&c);
  if (gfsmith_codec_create_lrc(&c.codec, 2, 1, 1) == GFSMITH_OK)
    every_loss(&c);
  c.m = 3;
  if (gfsmith_codec_create_matrix(&c.codec, 0x11b, c.k, c.m, matrix) == GFSMITH_OK)
    every_loss(&c);
  return 0;
}
