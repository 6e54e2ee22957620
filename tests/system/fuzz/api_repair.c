/* Repairs: gfsmith_reconstruct, and gfsmith_plan.h. */
#include "api.h"

enum { MODELLED = 48 }; /* the model determines repairable shards up to this number of shards */

/* A loss, and the shards to rebuild. */
typedef struct loss {
  unsigned shards, missing;
  bool present[MODEL_SHARDS], wanted[MODEL_SHARDS];
  bool all; /* wanted is NULL */
} loss;

static bool target(const loss *l, unsigned n) { return !l->present[n] && (l->all || l->wanted[n]); }

static void take_loss(input *in, const subject *s, loss *l) {
  unsigned losses =
      take_below(in, 16) == 15 ? take_below(in, 256) : take_below(in, 256) % (s->m + 1);
  l->shards = s->k + s->m;
  l->missing = 0;
  l->all = take_below(in, 2);
  for (unsigned n = 0; n < l->shards; n++)
    l->present[n] = true, l->wanted[n] = false;
  for (; losses > 0; losses--) {
    unsigned n = (unsigned)take(in, 1) % l->shards;
    l->missing += l->present[n];
    l->present[n] = false;
    l->wanted[n] = take_below(in, 4) != 0;
  }
}

/* Returns true if all targets are determined. known: false if the model cannot decide it. */
static bool possible(const subject *s, const loss *l, bool *known) {
  bool determined[MODEL_SHARDS], yes = true;
  *known = l->shards <= MODELLED;
  if (!*known)
    return true;
  model_determined(s->polynomial, s->k, s->m, s->matrix, l->present, determined);
  for (unsigned n = 0; n < l->shards; n++)
    yes = yes && (determined[n] || !target(l, n));
  return yes;
}

/* Places consistent shards, then overwrites the missing ones. original: their former contents. */
static void place_loss(input *in, const subject *s, const loss *l, size_t len,
                       uint8_t (*original)[ARENA_BYTES]) {
  api_place_consistent(in, s, len);
  arena_save(l->shards);
  for (unsigned n = 0; n < l->shards; n++) {
    memcpy(original[n], arena_saved(n), len);
    if (!l->present[n])
      arena_fill(n, 99);
  }
  arena_save(l->shards);
}

/* Checks that the targets have their original contents, and that nothing else has changed; if not
 * repaired, that nothing has changed. */
static void require_repaired(const loss *l, bool repaired, uint8_t (*original)[ARENA_BYTES]) {
  for (unsigned n = 0; n < l->shards; n++)
    arena_require(n, repaired && target(l, n) ? original[n] : arena_saved(n));
}

void api_determined(input *in, const subject *s) {
  bool expected[MODEL_SHARDS], found[MODEL_SHARDS];
  unsigned fault = take_below(in, 32);
  loss l;
  take_loss(in, s, &l);
  memset(found, 1, sizeof found);
  gfsmith_status status = gfsmith_determined(
      fault == 1 ? NULL : s->codec, fault == 2 ? NULL : l.present, fault == 3 ? NULL : found);
  if (fault >= 1 && fault <= 3) {
    REQUIRE(status == GFSMITH_EINVAL);
    for (unsigned n = 0; n < l.shards; n++)
      REQUIRE(found[n]);
    return;
  }
  REQUIRE(status == GFSMITH_OK);
  if (l.shards > MODELLED)
    return;
  model_determined(s->polynomial, s->k, s->m, s->matrix, l.present, expected);
  REQUIRE(memcmp(found, expected, l.shards) == 0);
}

/* Sets some pointers to NULL, both where that is allowed and where it is not. */
static void drop(input *in, const loss *l, pointers *p, bool *target_dropped,
                 bool *present_dropped) {
  *target_dropped = *present_dropped = false;
  for (unsigned n = take_below(in, 8); n > 4; n--) {
    unsigned at = (unsigned)take(in, 1) % l->shards;
    p->list[at] = NULL;
    *target_dropped = *target_dropped || target(l, at);
    *present_dropped = *present_dropped || l->present[at];
  }
}

void api_reconstruct(input *in, const subject *s) {
  static uint8_t original[MODEL_SHARDS][ARENA_BYTES];
  bool known, target_dropped, present_dropped, any = false;
  unsigned fault = take_below(in, 64);
  size_t len = api_length(in, s);
  pointers p;
  loss l;
  take_loss(in, s, &l);
  place_loss(in, s, &l, len, original);
  api_pointers(&p, 0, l.shards, 0);
  drop(in, &l, &p, &target_dropped, &present_dropped);
  const gfsmith_executor *executor = api_executor(in);
  const gfsmith_codec *codec = fault == 1 ? NULL : s->codec;
  uint8_t *const *shards = fault == 2 ? NULL : p.list;
  const bool *present = fault == 3 ? NULL : l.present, *wanted = l.all ? NULL : l.wanted;
  gfsmith_status status =
      executor == NULL
          ? gfsmith_reconstruct(codec, len, shards, present, wanted)
          : gfsmith_reconstruct_parallel(codec, executor, len, shards, present, wanted);
  require_repaired(&l, status == GFSMITH_OK && len > 0, original);
  for (unsigned n = 0; n < l.shards; n++)
    any = any || target(&l, n);
  if (fault == 1 || fault == 3 ||
      (len > 0 && (fault == 2 || (s->packet > 0 && len % (8 * s->packet) != 0))))
    REQUIRE(status == GFSMITH_EINVAL);
  else if (l.missing > s->m)
    REQUIRE(status == GFSMITH_ETOOMANY);
  else if (!any)
    REQUIRE(status == GFSMITH_OK);
  else if (!possible(s, &l, &known))
    REQUIRE(status == GFSMITH_ESINGULAR);
  else if (known)
    REQUIRE(status == GFSMITH_OK
                ? len == 0 || !target_dropped
                : len > 0 && status == GFSMITH_EINVAL && (target_dropped || present_dropped));
}

/* Checks a plan's description: targets in order, reads of present shards in order. */
static void require_plan(const gfsmith_plan *plan, const loss *l) {
  unsigned reads, targets, at = 0;
  const uint8_t *read = gfsmith_plan_reads(plan, &reads);
  const uint8_t *rebuilt = gfsmith_plan_targets(plan, &targets);
  for (unsigned n = 0; n < l->shards; n++)
    if (target(l, n))
      REQUIRE(at < targets && rebuilt[at++] == n);
  REQUIRE(at == targets);
  for (unsigned n = 0; n < reads; n++) {
    REQUIRE(l->present[read[n]] && (n == 0 || read[n] > read[n - 1]));
    bool used = false;
    for (unsigned t = 0; t < targets; t++)
      used = used || gfsmith_plan_matrix(plan)[t * reads + n] != 0;
    REQUIRE(used);
  }
  gfsmith_plan_is_least(plan);
}

/* Runs a plan with pointers to the needed shards only. */
static void run_plan(input *in, const gfsmith_plan *plan, const loss *l, const subject *s,
                     size_t len, uint8_t (*original)[ARENA_BYTES]) {
  pointers p;
  unsigned counts[2], fault = take_below(in, 32);
  const uint8_t *needed[2] = {gfsmith_plan_reads(plan, &counts[0]),
                              gfsmith_plan_targets(plan, &counts[1])};
  bool lacking = fault == 2 && counts[1] > 0;
  memset(p.list, 0, sizeof p.list);
  for (unsigned kind = 0; kind < 2; kind++)
    for (unsigned n = 0; n < counts[kind]; n++)
      p.list[needed[kind][n]] = arena_at(needed[kind][n]);
  if (lacking)
    p.list[needed[1][0]] = NULL;
  gfsmith_status status =
      gfsmith_plan_run(fault == 1 ? NULL : plan, len, fault == 3 ? NULL : p.list);
  bool uneven = s->packet > 0 && len % (8 * s->packet) != 0;
  bool refused = fault == 1 || (len > 0 && (fault == 3 || lacking || uneven));
  REQUIRE(status == (refused ? GFSMITH_EINVAL : GFSMITH_OK));
  require_repaired(l, !refused && len > 0, original);
}

void api_plan(input *in, subject *s) {
  static uint8_t original[MODEL_SHARDS][ARENA_BYTES];
  gfsmith_plan *plan = (gfsmith_plan *)s; /* not NULL: the call must overwrite it */
  unsigned fault = take_below(in, 32);
  bool known;
  loss l;
  take_loss(in, s, &l);
  gfsmith_status status =
      gfsmith_plan_create(fault == 1 ? NULL : &plan, fault == 2 ? NULL : s->codec,
                          fault == 3 ? NULL : l.present, l.all ? NULL : l.wanted);
  if (fault >= 1 && fault <= 3)
    REQUIRE(status == GFSMITH_EINVAL && (fault == 1 || plan == NULL));
  else if (l.missing > s->m)
    REQUIRE(status == GFSMITH_ETOOMANY && plan == NULL);
  else if (!possible(s, &l, &known))
    REQUIRE(status == GFSMITH_ESINGULAR && plan == NULL);
  else if (known)
    REQUIRE(status == GFSMITH_OK && plan != NULL);
  if (status != GFSMITH_OK)
    return;
  require_plan(plan, &l);
  size_t len = api_length(in, s);
  place_loss(in, s, &l, len, original);
  if (take_below(in, 8) == 0) { /* a plan does not need its codec any more */
    gfsmith_codec_destroy(s->codec);
    s->codec = NULL;
  }
  run_plan(in, plan, &l, s, len, original);
  gfsmith_plan_destroy(plan);
}
