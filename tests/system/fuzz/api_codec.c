/* Encoding, updates, checks: gfsmith.h without repairs. */
#include "api.h"

enum { WORK = 1 << 17, CHANGES = 10 };

/* A length that no call can process: a call must not read before it has found the error. */
static const size_t huge = SIZE_MAX - 4095;

size_t api_length(input *in, const subject *s) {
  size_t most = WORK / ((size_t)s->k * s->m) / (s->packet > 0 ? 4 : 1);
  size_t unit = s->packet > 0 && s->packet <= ARENA_BYTES / 8 ? 8 * s->packet : 1;
  unsigned how = take_below(in, 16);
  most = most > ARENA_BYTES ? ARENA_BYTES : most < unit ? unit : most;
  if (how == 0)
    return 0;
  size_t len = how < 8 ? 1 + take_below(in, 256) : take_below(in, ARENA_BYTES + 1);
  len = len > most ? most : len;
  return how == 1                                       ? len
         : (len + unit - 1) / unit * unit > ARENA_BYTES ? unit
                                                        : (len + unit - 1) / unit * unit;
}

/* Returns true if the layout has shards of this length. */
static bool length_valid(const subject *s, size_t len) {
  return s->packet == 0 || len % (8 * s->packet) == 0;
}

void api_place(input *in, const subject *s, size_t len) {
  unsigned how = (unsigned)take(in, 2);
  for (unsigned n = 0; n < s->k + s->m; n++)
    arena_place(n, len, how & 1, how);
}

void api_place_consistent(input *in, const subject *s, size_t len) {
  pointers p;
  api_place(in, s, len);
  api_pointers(&p, 0, s->k + s->m, 0);
  if (length_valid(s, len))
    REQUIRE(gfsmith_encode(s->codec, len, (const uint8_t *const *)p.list, p.list + s->k) ==
            GFSMITH_OK);
}

void api_parities(const subject *s, size_t len, uint8_t (*expected)[ARENA_BYTES]) {
  for (unsigned i = 0; i < s->m; i++) {
    memset(expected[i], 0, len);
    for (unsigned j = 0; j < s->k; j++)
      model_add(s->polynomial, s->packet, s->matrix[i * s->k + j], len, arena_at(j), expected[i]);
  }
}

unsigned api_fault(input *in) {
  unsigned fault = (unsigned)take(in, 2);
  return fault < 49152 ? 0 : fault;
}

void api_pointers(pointers *p, unsigned first, unsigned count, unsigned fault) {
  for (unsigned n = 0; n < count; n++)
    p->list[n] = arena_at(first + n);
  p->array = fault % 8 == 1 ? NULL : p->list;
  p->faulty = fault != 0 && (fault % 8 == 1 || count > 0);
  if (fault != 0 && fault % 8 != 1 && count > 0)
    p->list[fault / 8 % count] = NULL;
}

/* Returns the length of a call: with missing pointers, any length may be passed. */
static size_t claimed(input *in, size_t len, bool faulty) {
  return faulty && take_below(in, 4) == 0 ? huge : len;
}

void api_encode(input *in, const subject *s) {
  static uint8_t expected[MODEL_SHARDS][ARENA_BYTES];
  pointers data, parity;
  size_t len = api_length(in, s);
  api_place(in, s, len);
  arena_save(s->k + s->m);
  api_pointers(&data, 0, s->k, api_fault(in));
  api_pointers(&parity, s->k, s->m, api_fault(in));
  bool missing = take_below(in, 64) == 63, faulty = data.faulty || parity.faulty || missing;
  size_t said = claimed(in, len, faulty);
  const gfsmith_codec *codec = missing ? NULL : s->codec;
  const gfsmith_executor *executor = api_executor(in);
  const uint8_t *const *from = (const uint8_t *const *)data.array;
  gfsmith_status status = executor == NULL
                              ? gfsmith_encode(codec, said, from, parity.array)
                              : gfsmith_encode_parallel(codec, executor, said, from, parity.array);
  arena_require_same(0, s->k);
  bool refused = missing || (said > 0 && (faulty || !length_valid(s, len)));
  REQUIRE(status == (refused ? GFSMITH_EINVAL : GFSMITH_OK));
  if (refused || said == 0) {
    arena_require_same(s->k, s->k + s->m);
    return;
  }
  api_parities(s, len, expected);
  for (unsigned i = 0; i < s->m; i++)
    arena_require(s->k + i, expected[i]);
}

/* Calls gfsmith_update or gfsmith_append, or their parallel functions. */
static gfsmith_status change_one(input *in, const gfsmith_codec *codec, size_t len, unsigned index,
                                 const uint8_t *change, uint8_t *const *parity, bool plain,
                                 bool first) {
  const gfsmith_executor *executor = api_executor(in);
  if (executor == NULL)
    return plain ? gfsmith_update(codec, len, index, change, parity)
                 : gfsmith_append(codec, len, index, change, parity, first);
  return plain ? gfsmith_update_parallel(codec, executor, len, index, change, parity)
               : gfsmith_append_parallel(codec, executor, len, index, change, parity, first);
}

void api_append(input *in, const subject *s) {
  static uint8_t expected[ARENA_BYTES];
  pointers parity;
  size_t len = api_length(in, s);
  unsigned index = take_below(in, 8) < 7 ? take_below(in, 256) % s->k : (unsigned)take(in, 4);
  unsigned how = take_below(in, 64), delta = s->k + s->m;
  bool first = how & 1, missing = how == 62, plain = how & 2 && !first;
  api_place(in, s, len);
  arena_place(delta, len, how & 4, how);
  arena_save(delta + 1);
  api_pointers(&parity, s->k, s->m, api_fault(in));
  const uint8_t *change = how == 60 ? NULL : arena_at(delta);
  bool faulty = parity.faulty || change == NULL || missing || index >= s->k;
  const gfsmith_codec *codec = missing ? NULL : s->codec;
  size_t said = claimed(in, len, faulty);
  gfsmith_status status = change_one(in, codec, said, index, change, parity.array, plain, first);
  arena_require_same(0, s->k);
  arena_require_same(delta, delta + 1);
  bool refused = missing || index >= s->k || (said > 0 && (faulty || !length_valid(s, len)));
  REQUIRE(status == (refused ? GFSMITH_EINVAL : GFSMITH_OK));
  for (unsigned i = 0; i < s->m; i++) {
    memcpy(expected, arena_saved(s->k + i), len);
    if (!refused && first && said > 0)
      memset(expected, 0, len);
    if (!refused && said > 0)
      model_add(s->polynomial, s->packet, s->matrix[i * s->k + index], len, arena_saved(delta),
                expected);
    arena_require(s->k + i, expected);
  }
}

/* The planted error: the function processes indices one after the other, so those before a wrong
 * index have been written when it finds the error. */
static gfsmith_status eager(const gfsmith_codec *codec, size_t len, unsigned count,
                            const unsigned *indices, const uint8_t *const *deltas,
                            uint8_t *const *parity) {
  gfsmith_status status = codec == NULL ? GFSMITH_EINVAL : GFSMITH_OK;
  if (len > 0 && count > 0 && (indices == NULL || deltas == NULL))
    return GFSMITH_EINVAL;
  for (unsigned n = 0; len > 0 && n < count && status == GFSMITH_OK; n++)
    status = gfsmith_update(codec, len, indices[n], deltas[n], parity);
  return status;
}
void api_update_many(input *in, const subject *s) {
  static uint8_t expected[ARENA_BYTES];
  pointers deltas, parity;
  unsigned indices[CHANGES], count = take_below(in, CHANGES + 1), first = s->k + s->m;
  unsigned how = take_below(in, 64);
  bool wrong = false, missing = how == 62, unnamed = how == 60;
  size_t len = api_length(in, s);
  api_place(in, s, len);
  for (unsigned n = 0; n < count; n++) {
    indices[n] = take_below(in, 32) < 31 ? take_below(in, 256) % s->k : (unsigned)take(in, 4);
    wrong = wrong || indices[n] >= s->k;
    arena_place(first + n, len, how & 1, how);
  }
  arena_save(first + count);
  api_pointers(&deltas, first, count, api_fault(in));
  api_pointers(&parity, s->k, s->m, api_fault(in));
  bool faulty = deltas.faulty || parity.faulty || missing || unnamed || wrong;
  size_t said = count > 0 ? claimed(in, len, faulty) : len;
  const gfsmith_executor *executor = api_executor(in);
  const gfsmith_codec *codec = missing ? NULL : s->codec;
  const unsigned *which = unnamed ? NULL : indices;
  const uint8_t *const *from = (const uint8_t *const *)deltas.array;
  gfsmith_status status =
      planted() ? eager(codec, said, count, which, from, parity.array)
      : executor == NULL
          ? gfsmith_update_many(codec, said, count, which, from, parity.array)
          : gfsmith_update_many_parallel(codec, executor, said, count, which, from, parity.array);
  bool refused = missing || (said > 0 && count > 0 && (faulty || !length_valid(s, len)));
  REQUIRE(status == (refused ? GFSMITH_EINVAL : GFSMITH_OK));
  arena_require_same(0, s->k);
  arena_require_same(first, first + count);
  for (unsigned i = 0; i < s->m; i++) {
    memcpy(expected, arena_saved(s->k + i), len);
    for (unsigned n = 0; !refused && said > 0 && n < count; n++)
      model_add(s->polynomial, s->packet, s->matrix[i * s->k + indices[n]], len,
                arena_saved(first + n), expected);
    arena_require(s->k + i, expected);
  }
}

/* Changes one byte of one shard, sometimes. */
static void damage(input *in, const subject *s, size_t len) {
  unsigned where = (unsigned)take(in, 2), how = (unsigned)take(in, 1);
  if (len > 0 && how & 1)
    arena_at((unsigned)take(in, 1) % (s->k + s->m))[where % len] ^= (uint8_t)(how >> 1);
}

void api_check(input *in, const subject *s) {
  static uint8_t expected[MODEL_SHARDS][ARENA_BYTES];
  pointers shards;
  size_t len = api_length(in, s);
  api_place_consistent(in, s, len);
  damage(in, s, len);
  arena_save(s->k + s->m);
  api_pointers(&shards, 0, s->k + s->m, api_fault(in));
  unsigned how = take_below(in, 64);
  bool before = how & 1, ok = before, missing = how == 62, blind = how == 60, same = true;
  bool faulty = shards.faulty || blind || missing;
  size_t said = claimed(in, len, faulty);
  const gfsmith_executor *executor = api_executor(in);
  const gfsmith_codec *codec = missing ? NULL : s->codec;
  const uint8_t *const *from = (const uint8_t *const *)shards.array;
  bool *out = blind ? NULL : &ok;
  gfsmith_status status = executor == NULL
                              ? gfsmith_check(codec, said, from, out)
                              : gfsmith_check_parallel(codec, executor, said, from, out);
  arena_require_same(0, s->k + s->m);
  if (missing || (said > 0 && (faulty || !length_valid(s, len)))) {
    REQUIRE(status == GFSMITH_EINVAL && ok == before);
    return;
  }
  api_parities(s, len, expected);
  for (unsigned i = 0; i < s->m && said > 0; i++)
    same = same && memcmp(expected[i], arena_at(s->k + i), len) == 0;
  REQUIRE(status == GFSMITH_OK && (blind || ok == same));
}

void api_locate(input *in, const subject *s) {
  static size_t counts[MODEL_SHARDS + 2], before[MODEL_SHARDS + 2];
  static uint16_t where[ARENA_BYTES];
  pointers shards;
  size_t len = api_length(in, s);
  unsigned all = s->k + s->m, wrong = take_below(in, 256) % all, fault = api_fault(in);
  api_place_consistent(in, s, len);
  unsigned step = 1 + take_below(in, 16);
  for (size_t b = 0; b < len && step > 1; b += step)
    arena_at(wrong)[b] ^= (uint8_t)(1 + b % 255);
  arena_save(all);
  api_pointers(&shards, 0, all, fault);
  memset(counts, 0x5a, sizeof counts);
  memcpy(before, counts, sizeof counts);
  gfsmith_status status =
      gfsmith_locate(s->codec, len, (const uint8_t *const *)shards.array, counts, where);
  arena_require_same(0, all);
  if (status != GFSMITH_OK) {
    REQUIRE(memcmp(counts, before, sizeof counts) == 0);
    REQUIRE(status == (shards.faulty && len > 0 ? status : GFSMITH_EUNSUPPORTED));
    REQUIRE(status == GFSMITH_EINVAL || s->packet > 0 || all > 40 ||
            !model_distinct(s->polynomial, s->k, s->m, s->matrix));
    return;
  }
  REQUIRE(s->packet == 0 && !(shards.faulty && len > 0));
  REQUIRE(all > 40 || model_distinct(s->polynomial, s->k, s->m, s->matrix));
  size_t changed = step > 1 ? (len + step - 1) / step : 0;
  for (unsigned n = 0; n < all + 2; n++)
    REQUIRE(counts[n] == (n == wrong ? changed : n == all ? len - changed : 0));
  for (size_t b = 0; b < len; b++)
    REQUIRE(where[b] == (step > 1 && b % step == 0 ? wrong : GFSMITH_INTACT));
}

/* One wrong symbol at some positions, at another shard at each. */
void api_correct(input *in, const subject *s) {
  static size_t counts[MODEL_SHARDS + 2];
  static uint16_t found[ARENA_BYTES];
  pointers shards;
  size_t len = api_length(in, s);
  unsigned all = s->k + s->m, step = 1 + take_below(in, 16), fault = api_fault(in);
  api_place_consistent(in, s, len);
  arena_save(all);
  for (size_t b = 0; b < len && step > 1; b += step)
    arena_at((unsigned)(b * step % all))[b] ^= (uint8_t)(1 + b % 255);
  api_pointers(&shards, 0, all, fault);
  gfsmith_status status = gfsmith_correct(s->codec, len, shards.array, NULL, counts, found);
  if (status != GFSMITH_OK) {
    REQUIRE(status == GFSMITH_EUNSUPPORTED || (status == GFSMITH_EINVAL && shards.faulty));
    REQUIRE(status == GFSMITH_EINVAL || s->packet > 0 || s->m < 2 || all > 40 ||
            !model_distinct(s->polynomial, s->k, s->m, s->matrix));
    return;
  }
  REQUIRE(s->packet == 0 && !(shards.faulty && len > 0));
  size_t changed = step > 1 ? (len + step - 1) / step : 0, corrected = 0;
  for (unsigned n = 0; n < all; n++)
    corrected += counts[n];
  REQUIRE(corrected == changed && counts[all] == len - changed && counts[all + 1] == 0);
  for (size_t b = 0; b < len; b++)
    REQUIRE(found[b] == (step > 1 && b % step == 0));
  arena_require_same(0, all);
}
