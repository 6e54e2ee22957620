/* Calls without a codec: gfsmith_raid.h and gfsmith_algebra.h. */
#include "api.h"

enum { MOST = 1024 };

/* P, Q, R as a code: rows of the powers of 1, 2, 4. */
static void raid_subject(subject *s, unsigned k, unsigned m) {
  const uint8_t *doubled = model_products(GFSMITH_POLYNOMIAL, 2);
  s->k = k;
  s->m = m;
  s->polynomial = GFSMITH_POLYNOMIAL;
  s->packet = 0;
  for (unsigned j = 0; j < k; j++) {
    uint8_t before = j == 0 ? 1 : s->matrix[k + j - 1], two = j == 0 ? 1 : doubled[before];
    s->matrix[j] = 1;
    s->matrix[k + j] = two;
    s->matrix[2 * k + j] = model_products(GFSMITH_POLYNOMIAL, two)[two];
  }
}

static gfsmith_status generate(unsigned k, unsigned m, size_t len, uint8_t *const *shards) {
  return m == 1   ? gfsmith_xor_gen(k, len, shards)
         : m == 2 ? gfsmith_pq_gen(k, len, shards)
                  : gfsmith_pqr_gen(k, len, shards);
}

static gfsmith_status check(unsigned k, unsigned m, size_t len, uint8_t *const *list, bool *ok) {
  const uint8_t *const *shards = (const uint8_t *const *)list;
  return m == 1   ? gfsmith_xor_check(k, len, shards, ok)
         : m == 2 ? gfsmith_pq_check(k, len, shards, ok)
                  : gfsmith_pqr_check(k, len, shards, ok);
}

/* Invalid numbers of shards: the call must not access memory. */
static void raid_refused(input *in) {
  static const unsigned wrong[] = {0, 256, 257, 65536, 0x80000000u, 0xffffffffu};
  unsigned k = wrong[take_below(in, 6)], m = 1 + take_below(in, 3);
  bool ok = true;
  REQUIRE(generate(k, m, 64, NULL) == GFSMITH_EINVAL);
  REQUIRE(check(k, m, 64, NULL, &ok) == GFSMITH_EINVAL && ok);
  REQUIRE(gfsmith_raid_recover(k, m, 64, NULL, NULL) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_raid_recover(4, 4 + k, 64, NULL, NULL) == GFSMITH_EINVAL || k > 0xfffffff0u);
  REQUIRE(gfsmith_raid_recover(4, 0, 0, NULL, NULL) == GFSMITH_EINVAL);
}

static void raid_recover(input *in, const subject *s, size_t len) {
  static uint8_t original[MODEL_SHARDS + 3][ARENA_BYTES];
  bool present[MODEL_SHARDS + 3];
  unsigned shards = s->k + s->m, missing = 0, losses = take_below(in, s->m + 2);
  pointers p;
  memset(present, 1, sizeof present);
  arena_save(shards);
  for (unsigned n = 0; n < shards; n++)
    memcpy(original[n], arena_saved(n), len);
  for (; losses > 0; losses--) {
    unsigned n = take_below(in, 4) == 0 ? s->k + take_below(in, s->m) : take_below(in, 256) % s->k;
    missing += present[n];
    present[n] = false;
    arena_fill(n, 99);
  }
  arena_save(shards);
  api_pointers(&p, 0, shards, 0);
  gfsmith_status status = gfsmith_raid_recover(s->k, s->m, len, p.list, present);
  bool refused = missing > s->m;
  REQUIRE(status == (refused ? GFSMITH_ETOOMANY : GFSMITH_OK));
  for (unsigned n = 0; n < shards; n++)
    arena_require(n, refused || len == 0 ? arena_saved(n) : original[n]);
}

void api_raid(input *in) {
  static uint8_t expected[MODEL_SHARDS][ARENA_BYTES];
  static subject s;
  unsigned how = take_below(in, 16);
  if (how == 0) {
    raid_refused(in);
    return;
  }
  raid_subject(&s, how < 13 ? 1 + take_below(in, 24) : 1 + take_below(in, 255),
               1 + take_below(in, 3));
  size_t len = api_length(in, &s);
  bool before = how & 1, ok = before;
  pointers p;
  api_place(in, &s, len);
  arena_save(s.k + s.m);
  api_pointers(&p, 0, s.k + s.m, api_fault(in));
  gfsmith_status status = generate(s.k, s.m, len, p.array);
  arena_require_same(0, s.k);
  if (p.faulty && len > 0) {
    REQUIRE(status == GFSMITH_EINVAL);
    arena_require_same(s.k, s.k + s.m);
    REQUIRE(check(s.k, s.m, len, p.array, &ok) == GFSMITH_EINVAL && ok == before);
    return;
  }
  REQUIRE(status == GFSMITH_OK);
  api_parities(&s, len, expected);
  for (unsigned i = 0; i < s.m; i++)
    arena_require(s.k + i, expected[i]);
  if (how & 2 && len > 0)
    arena_at((unsigned)take(in, 1) % (s.k + s.m))[len / 2] ^= 1;
  REQUIRE(check(s.k, s.m, len, p.array, &ok) == GFSMITH_OK && ok == (len == 0 || !(how & 2)));
  if (!(how & 2))
    raid_recover(in, &s, len);
}

/* Places three arrays, of which the last, out, may be an operand. */
static void operands(input *in, size_t len, uint8_t *array[3]) {
  unsigned how = (unsigned)take(in, 2), same = how % 8;
  for (unsigned n = 0; n < 3; n++)
    array[n] = arena_place(n, len, how & 16, how);
  arena_place(3, 32, how & 16, how); /* the modulus of polynomials */
  arena_save(4);
  if (same < 2)
    array[2] = array[same];
}

/* c = a b mod y^degree + modulus, element by element: coefficients from the highest of a on. */
static void model_polynomials(unsigned polynomial, unsigned degree, const uint8_t *a,
                              const uint8_t *b, const uint8_t *modulus, uint8_t *c) {
  memset(c, 0, degree);
  for (unsigned n = degree; n-- > 0;) {
    uint8_t carry = c[degree - 1];
    memmove(c + 1, c, degree - 1);
    c[0] = 0;
    model_add(polynomial, 0, carry, degree, modulus, c);
    model_add(polynomial, 0, a[n], degree, b, c);
  }
}

/* Rows of `width` bits: row r of c is the sum of the rows of b that row r of a names. */
static void model_matrices(unsigned width, const uint8_t *a, const uint8_t *b, uint8_t *c) {
  unsigned bytes = width / 8;
  memset(c, 0, (size_t)width * bytes);
  for (unsigned r = 0; r < width; r++)
    for (unsigned n = 0; n < width; n++)
      for (unsigned x = 0; (a[r * bytes + n / 8] >> n % 8 & 1) && x < bytes; x++)
        c[r * bytes + x] ^= b[n * bytes + x];
}

/* Checks the memory after a call: the result, or nothing if refused; the operands are unchanged. */
static void require_result(uint8_t *const array[3], bool refused, const uint8_t *expected) {
  for (unsigned n = 0; n < 3; n++)
    arena_require(n, !refused && arena_at(n) == array[2] ? expected : arena_saved(n));
  arena_require_same(3, 4);
}

static void bytewise(input *in, unsigned polynomial, bool good) {
  static uint8_t expected[ARENA_BYTES];
  uint8_t *array[3];
  size_t len = take_below(in, MOST);
  operands(in, len, array);
  unsigned fault = take_below(in, 24);
  bool inverse = take_below(in, 2), lacking = len > 0 && (fault < 3 && !(inverse && fault == 1));
  const uint8_t *a = fault == 0 ? NULL : array[0], *b = fault == 1 ? NULL : array[1];
  uint8_t *out = fault == 2 ? NULL : array[2];
  gfsmith_status status = inverse ? gfsmith_invert(polynomial, len, a, out)
                                  : gfsmith_multiply(polynomial, len, a, b, out);
  REQUIRE(status == (good && !lacking ? GFSMITH_OK : GFSMITH_EINVAL));
  for (size_t n = 0; status == GFSMITH_OK && n < len; n++)
    expected[n] = inverse ? model_inverse(polynomial, arena_saved(0)[n])
                          : model_products(polynomial, arena_saved(0)[n])[arena_saved(1)[n]];
  require_result(array, status != GFSMITH_OK, expected);
}

static void polynomials(input *in, unsigned polynomial, bool good) {
  static uint8_t expected[ARENA_BYTES];
  uint8_t *array[3];
  unsigned degree = 8u << take_below(in, 3),
           said = take_below(in, 8) == 7 ? (unsigned)take(in, 4) : degree;
  size_t n = take_below(in, 24), many = n;
  if (take_below(in, 8) == 7 && said != 0)
    many = SIZE_MAX / said + 1;
  operands(in, n * degree, array);
  if (said == 8 || said == 16 || said == 32)
    many = said == degree ? many : n * degree / said;
  gfsmith_status status = gfsmith_multiply_polynomials(polynomial, said, many, array[0], array[1],
                                                       arena_at(3), array[2]);
  bool known = said == 8 || said == 16 || said == 32, endless = known && many > SIZE_MAX / said;
  REQUIRE(status == (good && known && !endless ? GFSMITH_OK : GFSMITH_EINVAL));
  memcpy(expected, arena_at(2) == array[2] ? arena_saved(2) : arena_saved(array[2] == arena_at(1)),
         n * degree);
  for (size_t x = 0; status == GFSMITH_OK && x < many; x++)
    model_polynomials(polynomial, said, arena_saved(0) + x * said, arena_saved(1) + x * said,
                      arena_saved(3), expected + x * said);
  require_result(array, status != GFSMITH_OK, expected);
}

static void matrices(input *in) {
  static uint8_t expected[ARENA_BYTES];
  uint8_t *array[3];
  bool wide = take_below(in, 2), endless = take_below(in, 8) == 7;
  unsigned width = wide ? 64 : 8, bytes = width * width / 8;
  size_t n = take_below(in, wide ? 4 : 100), many = endless ? SIZE_MAX / bytes + 1 : n;
  operands(in, n * bytes, array);
  gfsmith_status status =
      wide ? gfsmith_multiply_matrices64(many, (const uint64_t *)(void *)array[0],
                                         (const uint64_t *)(void *)array[1],
                                         (uint64_t *)(void *)array[2])
           : gfsmith_multiply_matrices8(many, array[0], array[1], array[2]);
  REQUIRE(status == (endless ? GFSMITH_EINVAL : GFSMITH_OK));
  for (size_t x = 0; !endless && x < n; x++)
    model_matrices(width, arena_saved(0) + x * bytes, arena_saved(1) + x * bytes,
                   expected + x * bytes);
  require_result(array, endless, expected);
}

void api_algebra(input *in) {
  unsigned which = take_below(in, 8);
  unsigned polynomial = which < 3   ? GFSMITH_POLYNOMIAL
                        : which < 6 ? 0x11b
                                    : (unsigned)take(in, which == 6 ? 2 : 4);
  bool good = model_irreducible(polynomial);
  switch (take_below(in, 3)) {
  case 0:
    bytewise(in, polynomial, good);
    return;
  case 1:
    polynomials(in, polynomial, good);
    return;
  default:
    matrices(in);
  }
}
