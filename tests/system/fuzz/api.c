/* libFuzzer on the public C interface: hostile numbers, names and NULLs in valid memory.
 *
 * The input is a list of calls. A failed call must not have written anything; a successful call
 * must have written the bytes that the model computes, and nothing around them. GFSMITH_FUZZ_TEETH
 * replaces a function by one that writes before it has checked all arguments, which the fuzzer must
 * find. */
#include "api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 12 };

static const char *const codes[] = {"cauchy",      "vandermonde", "backblaze",    "lch",
                                    "cauchy_orig", "cauchy_good", "reed_sol_van", "reed_sol_r6_op",
                                    "hdfs",        "raid6",       "raidz",        "snapraid",
                                    "minio",       "md",          "zfec"};

/* Performs the tasks in ascending or descending order, from any task on. */
static void run_tasks(void *context, unsigned tasks, void (*task)(void *argument, unsigned index),
                      void *argument) {
  unsigned first = *(const unsigned *)context;
  REQUIRE(tasks > 0);
  for (unsigned n = 0; n < tasks; n++)
    task(argument, ((first & 1 ? n : tasks - 1 - n) + first / 2) % tasks);
}

const gfsmith_executor *api_executor(input *in) {
  static unsigned first;
  static gfsmith_executor made;
  unsigned how = take_below(in, 64);
  if (how < 16)
    return NULL;
  first = how;
  made.run = how == 16 ? NULL : run_tasks;
  made.context = &first;
  made.workers = how < 24 ? (unsigned)take(in, 4) : how % 5;
  made.least = how % 4 == 0 ? (size_t)take(in, 2) : 1;
  return &made;
}

/* Takes a shape, usually a small one. */
static void take_shape(input *in, unsigned *k, unsigned *m) {
  unsigned how = (unsigned)take(in, 1);
  *k = how < 192 ? 1 + take_below(in, 12) : (unsigned)take(in, how < 248 ? 1 : 4);
  *m = how < 192 ? 1 + take_below(in, 6) : (unsigned)take(in, how < 248 ? 1 : 4);
}

static bool shape_valid(unsigned k, unsigned m) {
  return k >= 1 && m >= 1 && (uint64_t)k + m <= GFSMITH_MAX_SHARDS;
}

/* Computes the matrix, as the parities of unit vectors. */
static void learn(subject *s) {
  uint8_t unit[MODEL_SHARDS] = {0}, *data[MODEL_SHARDS], out[MODEL_SHARDS], *parity[MODEL_SHARDS];
  for (unsigned j = 0; j < s->k; j++)
    data[j] = &unit[j];
  for (unsigned i = 0; i < s->m; i++)
    parity[i] = &out[i];
  for (unsigned j = 0; j < s->k; j++) {
    unit[j] = 1;
    REQUIRE(gfsmith_encode(s->codec, 1, (const uint8_t *const *)data, parity) == GFSMITH_OK);
    unit[j] = 0;
    for (unsigned i = 0; i < s->m; i++)
      s->matrix[i * s->k + j] = out[i];
  }
}

static gfsmith_status create_named(input *in, gfsmith_codec **out, subject *s) {
  char name[24];
  unsigned which = take_below(in, 32);
  const char *code = name;
  take_shape(in, &s->k, &s->m);
  if (which < sizeof codes / sizeof *codes)
    code = codes[which];
  else if (which == 31)
    code = NULL;
  else
    take_bytes(in, (uint8_t *)name, sizeof name - 1), name[sizeof name - 1] = 0;
  s->polynomial = GFSMITH_POLYNOMIAL;
  gfsmith_status status = gfsmith_codec_create(out, code, s->k, s->m);
  if (code == NULL || !shape_valid(s->k, s->m))
    REQUIRE(status == GFSMITH_EINVAL);
  else if (which == 0 && out != NULL)
    REQUIRE(status == GFSMITH_OK);
  return status;
}

static gfsmith_status create_matrix(input *in, gfsmith_codec **out, subject *s) {
  static uint8_t matrix[65536];
  static const uint16_t usual[] = {0x11d, 0x11b, 0x12b, 0x163};
  unsigned which = take_below(in, 6);
  take_shape(in, &s->k, &s->m);
  s->polynomial = which < 4 ? usual[which] : (unsigned)take(in, which == 4 ? 2 : 4);
  bool given = take_below(in, 16) != 15, valid = shape_valid(s->k, s->m);
  if (valid)
    take_bytes(in, matrix, (size_t)s->k * s->m);
  gfsmith_status status =
      gfsmith_codec_create_matrix(out, s->polynomial, s->k, s->m, given ? matrix : NULL);
  bool good = out != NULL && given && valid && model_irreducible(s->polynomial);
  REQUIRE(status == (good ? GFSMITH_OK : GFSMITH_EINVAL));
  if (good) {
    subject learned = *s;
    learned.codec = *out;
    learn(&learned);
    REQUIRE(memcmp(learned.matrix, matrix, (size_t)s->k * s->m) == 0);
  }
  return status;
}

static gfsmith_status create_lrc(input *in, gfsmith_codec **out, subject *s) {
  unsigned l, r;
  take_shape(in, &s->k, &l);
  r = (unsigned)take(in, 1) % 4 + (l > 100 ? (unsigned)take(in, 4) : 0);
  gfsmith_status status = gfsmith_codec_create_lrc(out, s->k, l, r);
  bool good = out != NULL && l >= 1 && l <= s->k && r >= 1 && (uint64_t)s->k + l + r <= 255;
  REQUIRE(status == (good ? GFSMITH_OK : GFSMITH_EINVAL));
  s->m = l + r;
  s->polynomial = GFSMITH_POLYNOMIAL;
  return status;
}

void api_create(input *in, subject *s) {
  static subject made;
  gfsmith_codec *fresh = (gfsmith_codec *)s; /* not NULL: the call must overwrite it */
  unsigned how = take_below(in, 16);
  gfsmith_codec **out = take_below(in, 32) != 31 ? &fresh : NULL;
  gfsmith_status status = how < 6    ? create_named(in, out, &made)
                          : how < 12 ? create_matrix(in, out, &made)
                                     : create_lrc(in, out, &made);
  REQUIRE((status == GFSMITH_OK) == (out != NULL && fresh != NULL));
  if (status != GFSMITH_OK)
    return;
  gfsmith_codec_destroy(s->codec);
  made.codec = fresh;
  made.packet = 0;
  learn(&made);
  *s = made;
}

void api_settings(input *in, subject *s) {
  if (take_below(in, 2) == 0) {
    int hint = take_below(in, 4) < 3 ? (int)take_below(in, 3) : (int)take(in, 4);
    gfsmith_status status = gfsmith_codec_hint(s->codec, (gfsmith_hint)hint);
    REQUIRE(status == (hint >= 0 && hint <= 2 ? GFSMITH_OK : GFSMITH_EINVAL));
    REQUIRE(gfsmith_codec_hint(NULL, GFSMITH_HINT_AUTO) == GFSMITH_EINVAL);
    return;
  }
  size_t packet = take_below(in, 8) < 7 ? take_below(in, 40) : (size_t)take(in, 8);
  gfsmith_status status = gfsmith_codec_packets(s->codec, packet);
  REQUIRE(status == (packet <= SIZE_MAX / 8 ? GFSMITH_OK : GFSMITH_EINVAL));
  REQUIRE(gfsmith_codec_packets(NULL, packet) == GFSMITH_EINVAL);
  if (status == GFSMITH_OK)
    s->packet = packet;
}

/* Chooses the instruction set of later codecs, and reads the names of statuses. */
static void choose_isa(input *in) {
  static const char *const names[] = {"scalar",   "sse",       "avx2",        "avx512",
                                      "gfni_sse", "gfni_avx2", "gfni_avx512", "neon"};
  char name[12];
  unsigned which = take_below(in, 16);
  const char *before = gfsmith_isa(), *chosen = which < 8 ? names[which] : NULL;
  if (which > 8) {
    take_bytes(in, (uint8_t *)name, sizeof name - 1);
    name[sizeof name - 1] = 0;
    chosen = name;
  }
  gfsmith_status status = gfsmith_set_isa(chosen);
  REQUIRE(strcmp(gfsmith_isa(), status == GFSMITH_OK ? chosen : before) == 0);
  REQUIRE(chosen != NULL || status == GFSMITH_EINVAL);
  REQUIRE(which != 0 || status == GFSMITH_OK);
  REQUIRE(gfsmith_strerror((gfsmith_status)(int)take(in, 4)) != NULL);
}

static void call(input *in, subject *s) {
  static void (*const calls[])(input *, const subject *) = {
      api_encode, api_append,     api_update_many, api_check,
      api_locate, api_determined, api_reconstruct, api_correct};
  unsigned which = take_below(in, 16);
  if (which == 0)
    choose_isa(in);
  else if (which == 1)
    api_raid(in);
  else if (which == 2)
    api_algebra(in);
  else if (which == 3 || s->codec == NULL)
    api_create(in, s);
  else if (which == 4)
    api_settings(in, s);
  else if (which < 7)
    api_plan(in, s);
  else if (which == 7)
    api_batch(in, s);
  else
    calls[which - 8](in, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static subject s;
  input in = {data, size};
  s.codec = NULL;
  gfsmith_set_isa("scalar");
  for (unsigned n = 0; n < CALLS && in.left > 0; n++)
    call(&in, &s);
  gfsmith_codec_destroy(s.codec);
  return 0;
}
