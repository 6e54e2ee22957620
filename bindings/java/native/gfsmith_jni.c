/* gfsmith_jni.c: the native methods of org.gfsmith.Native.
 *
 * A call gets its shards as an array of objects and one array of numbers, n of each kind: offsets
 * in bytes, owners and roles. A shard without bytes has the role ABSENT. The owner of a shard in
 * memory outside of the heap (a direct ByteBuffer) is DIRECT; otherwise it is the first shard in
 * the same byte[]. So each array is held once, and the call is right on virtual machines that
 * copy arrays in and out. */
#include "gfsmith_checksum.h"

#include <jni.h>
#include <stdlib.h>

/** Bytes of a shard that one hold of the arrays covers: the garbage collector may wait meanwhile.
 */
#define PIECE ((size_t)256 * 1024)

enum { ENCODE, RECONSTRUCT, CHECK, UPDATE };     /* as in Native.java */
enum { CHECKSUM = UPDATE + 1, SECTORS, SKETCH }; /* of one shard */
enum { DIRECT = -1 };                            /* an owner */
enum { ABSENT, READ, WRITE };                    /* roles */
enum { OFFSETS, OWNERS, ROLES, NUMBERS };        /* the kinds of numbers */
enum { MATCHES = GFSMITH_OK, DIFFERS = 1 };      /* results of CHECK */
enum { MOST_SHARDS = GFSMITH_MAX_SHARDS };

/* Checksums of the shards, or of the sectors of one shard. */
typedef struct checksums {
  gfsmith_checksum kind;
  size_t sector;
  uint64_t *results; /* of CHECKSUM, or one for each sector of the shard */
  bool compared;
  size_t stripes; /* of ENCODE */
  uint64_t states[MOST_SHARDS], expected[MOST_SHARDS];
  bool wrong[MOST_SHARDS];
} checksums;

/* The sketch of a piece of a shard. */
typedef struct sketch {
  const gfsmith_sketch *tables;
  uint64_t offset;
  uint8_t sum[GFSMITH_SKETCH_BYTES];
} sketch;

typedef struct call {
  const gfsmith_codec *codec;
  checksums *sums;       /* NULL: a call without checksums */
  sketch *sketch;        /* of SKETCH */
  jint operation, index; /* index: the changed shard of UPDATE */
  jint inputs, count;    /* inputs: the number of shards before those in the second array */
  jint numbers[NUMBERS * MOST_SHARDS];
  jobject object[MOST_SHARDS];
  uint8_t *base[MOST_SHARDS];
  bool in_arrays, written[MOST_SHARDS]; /* written: the array of this owner */
} call;

static jint number(const call *c, int kind, jint shard) {
  return c->numbers[kind * c->count + shard];
}

static bool owns_array(const call *c, jint shard) {
  return number(c, ROLES, shard) != ABSENT && number(c, OWNERS, shard) == shard;
}

/* Read the arguments. The caller has pushed a frame for the references. */
static void describe(JNIEnv *env, call *c, jobjectArray objects, jintArray numbers) {
  (*env)->GetIntArrayRegion(env, numbers, 0, NUMBERS * c->count, c->numbers);
  for (jint i = 0; i < c->count; i++) {
    if (number(c, ROLES, i) == ABSENT)
      continue;
    jint owner = number(c, OWNERS, i);
    if (owner == DIRECT || owner == i)
      c->object[i] = (*env)->GetObjectArrayElement(env, objects, i);
    if (owner == DIRECT) {
      c->base[i] = (*env)->GetDirectBufferAddress(env, c->object[i]);
      continue;
    }
    c->in_arrays = true;
    c->written[owner] |= number(c, ROLES, i) == WRITE;
  }
}

/* Release the arrays of the owners below `end`. Only written ones are copied back. */
static void release(JNIEnv *env, call *c, jint end) {
  for (jint i = end - 1; i >= 0; i--)
    if (owns_array(c, i))
      (*env)->ReleasePrimitiveArrayCritical(env, c->object[i], c->base[i],
                                            c->written[i] ? 0 : JNI_ABORT);
}

/* Hold all arrays. False, and nothing is held, if memory is exhausted. */
static bool hold(JNIEnv *env, call *c) {
  for (jint i = 0; i < c->count; i++) {
    if (!owns_array(c, i))
      continue;
    c->base[i] = (*env)->GetPrimitiveArrayCritical(env, c->object[i], NULL);
    if (c->base[i] == NULL) {
      release(env, c, i);
      return false;
    }
  }
  return true;
}

static gfsmith_status reconstruct(const call *c, size_t len, uint8_t *const *shards) {
  bool present[MOST_SHARDS], wanted[MOST_SHARDS];
  for (jint i = 0; i < c->count; i++) {
    present[i] = number(c, ROLES, i) == READ;
    wanted[i] = number(c, ROLES, i) == WRITE;
  }
  checksums *sums = c->sums;
  if (sums == NULL)
    return gfsmith_reconstruct(c->codec, len, shards, present, wanted);
  return gfsmith_reconstruct_checksums(c->codec, sums->kind, len, shards, present, wanted,
                                       sums->states, sums->compared ? sums->expected : NULL,
                                       sums->wrong);
}

static gfsmith_status encode(const call *c, size_t len, uint8_t *const *shards) {
  const uint8_t *const *data = (const uint8_t *const *)shards;
  uint8_t *const *parity = shards + c->inputs;
  if (c->sums == NULL)
    return gfsmith_encode(c->codec, len, data, parity);
  return gfsmith_encode_stripes_checksums(c->codec, c->sums->kind, len, c->sums->stripes, data,
                                          parity, c->sums->states);
}

static int check(const call *c, size_t len, uint8_t *const *shards) {
  bool matches = true;
  const uint8_t *const *all = (const uint8_t *const *)shards;
  gfsmith_status status = c->sums == NULL ? gfsmith_check(c->codec, len, all, &matches)
                                          : gfsmith_check_checksums(c->codec, c->sums->kind, len,
                                                                    all, c->sums->states, &matches);
  return status != GFSMITH_OK ? (int)status : matches ? MATCHES : DIFFERS;
}

/* Execute the call on `len` bytes of each shard from `begin` on. */
static int execute(const call *c, size_t begin, size_t len) {
  uint8_t *shards[MOST_SHARDS];
  for (jint i = 0; i < c->count; i++) {
    jint owner = number(c, OWNERS, i);
    shards[i] = number(c, ROLES, i) == ABSENT
                    ? NULL
                    : c->base[owner == DIRECT ? i : owner] + number(c, OFFSETS, i) + begin;
  }
  switch (c->operation) {
  case ENCODE:
    return encode(c, len, shards);
  case RECONSTRUCT:
    return reconstruct(c, len, shards);
  case CHECK:
    return check(c, len, shards);
  case CHECKSUM:
    return gfsmith_checksum_update(c->sums->kind, c->sums->results, len, shards[0]);
  case SECTORS:
    return gfsmith_checksum_sectors(c->sums->kind, c->sums->sector, len, shards[0],
                                    c->sums->results + begin / c->sums->sector);
  case SKETCH:
    return gfsmith_sketch_add(c->sketch->tables, c->sketch->sum, c->sketch->offset + begin, len,
                              shards[0]);
  default:
    return gfsmith_update(c->codec, len, (unsigned)c->index, shards[0], shards + c->inputs);
  }
}

/* Bytes of a piece: whole sectors. */
static size_t piece_of(const call *c) {
  if (c->operation != SECTORS)
    return PIECE;
  size_t sector = c->sums->sector;
  return sector < PIECE ? PIECE / sector * sector : sector;
}

/* A difference ends a call, unless the rest of the shards has checksums. */
static int execute_in_pieces(JNIEnv *env, call *c, size_t length) {
  size_t begin = 0, piece = piece_of(c);
  bool differs = false, ends;
  int result;
  do {
    size_t len = length - begin < piece ? length - begin : piece;
    if (!hold(env, c))
      return GFSMITH_ENOMEM;
    result = execute(c, begin, len);
    release(env, c, c->count);
    begin += len;
    differs |= result == DIFFERS;
    ends = result == DIFFERS ? c->sums == NULL : result != GFSMITH_OK;
  } while (!ends && begin < length);
  return result == GFSMITH_OK && differs ? DIFFERS : result;
}

/* Execute a call on the shards that objects and numbers describe. */
static int run(JNIEnv *env, call *c, jobjectArray objects, jintArray numbers, jint length) {
  c->count = (*env)->GetArrayLength(env, objects);
  if ((*env)->PushLocalFrame(env, c->count) != 0)
    return GFSMITH_ENOMEM;
  describe(env, c, objects, numbers);
  int result =
      c->in_arrays ? execute_in_pieces(env, c, (size_t)length) : execute(c, 0, (size_t)length);
  (*env)->PopLocalFrame(env, NULL);
  return result;
}

JNIEXPORT jint JNICALL Java_org_gfsmith_Native_run(JNIEnv *env, jclass native, jlong codec,
                                                   jint operation, jint index, jint inputs,
                                                   jobjectArray objects, jintArray numbers,
                                                   jint length) {
  (void)native;
  call c = {.codec = (const gfsmith_codec *)(intptr_t)codec,
            .operation = operation,
            .index = index,
            .inputs = inputs};
  return run(env, &c, objects, numbers, length);
}

JNIEXPORT jint JNICALL Java_org_gfsmith_Native_runChecksums(
    JNIEnv *env, jclass native, jlong codec, jint operation, jint stripes, jint inputs,
    jobjectArray objects, jintArray numbers, jint length, jint kind, jlongArray states,
    jlongArray expected, jbooleanArray wrong) {
  (void)native;
  checksums sums = {
      .kind = (gfsmith_checksum)kind, .compared = expected != NULL, .stripes = (size_t)stripes};
  jint n = (*env)->GetArrayLength(env, states);
  (*env)->GetLongArrayRegion(env, states, 0, n, (jlong *)sums.states);
  if (expected != NULL)
    (*env)->GetLongArrayRegion(env, expected, 0, n, (jlong *)sums.expected);
  call c = {.codec = (const gfsmith_codec *)(intptr_t)codec,
            .sums = &sums,
            .operation = operation,
            .inputs = inputs};
  int result = run(env, &c, objects, numbers, length);
  if (result < 0)
    return result;
  (*env)->SetLongArrayRegion(env, states, 0, n, (const jlong *)sums.states);
  if (expected != NULL)
    (*env)->SetBooleanArrayRegion(env, wrong, 0, n, (const jboolean *)sums.wrong);
  return result;
}

JNIEXPORT jint JNICALL Java_org_gfsmith_Native_update(JNIEnv *env, jclass native, jint kind,
                                                      jint sector, jobjectArray objects,
                                                      jintArray numbers, jint length,
                                                      jlongArray results) {
  (void)native;
  jint n = (*env)->GetArrayLength(env, results);
  uint64_t *values = calloc((size_t)n + 1, sizeof *values); /* no memory is NULL, not 0 bytes */
  if (values == NULL)
    return GFSMITH_ENOMEM;
  checksums sums = {.kind = (gfsmith_checksum)kind, .sector = (size_t)sector, .results = values};
  call c = {.sums = &sums, .operation = sector > 0 ? SECTORS : CHECKSUM};
  (*env)->GetLongArrayRegion(env, results, 0, n, (jlong *)values);
  int result = run(env, &c, objects, numbers, length);
  if (result == GFSMITH_OK)
    (*env)->SetLongArrayRegion(env, results, 0, n, (const jlong *)values);
  free(values);
  return result;
}

JNIEXPORT jlong JNICALL Java_org_gfsmith_Native_combine(JNIEnv *env, jclass native, jint kind,
                                                        jlong first, jlong second, jlong length) {
  (void)env, (void)native;
  uint64_t state = (uint64_t)first;
  (void)gfsmith_checksum_combine((gfsmith_checksum)kind, &state, (uint64_t)second, (size_t)length);
  return (jlong)state;
}

JNIEXPORT jlong JNICALL Java_org_gfsmith_Native_createSketch(JNIEnv *env, jclass native,
                                                             jint polynomial) {
  (void)env, (void)native;
  gfsmith_sketch *tables;
  gfsmith_status status = gfsmith_sketch_create(&tables, (unsigned)polynomial);
  return status == GFSMITH_OK ? (jlong)(intptr_t)tables : (jlong)status;
}

JNIEXPORT void JNICALL Java_org_gfsmith_Native_destroySketch(JNIEnv *env, jclass native,
                                                             jlong tables) {
  (void)env, (void)native;
  gfsmith_sketch_destroy((gfsmith_sketch *)(intptr_t)tables);
}

JNIEXPORT jint JNICALL Java_org_gfsmith_Native_addToSketch(JNIEnv *env, jclass native, jlong tables,
                                                           jbyteArray sum, jlong offset,
                                                           jobjectArray objects, jintArray numbers,
                                                           jint length) {
  (void)native;
  sketch piece = {.tables = (const gfsmith_sketch *)(intptr_t)tables, .offset = (uint64_t)offset};
  call c = {.sketch = &piece, .operation = SKETCH};
  (*env)->GetByteArrayRegion(env, sum, 0, GFSMITH_SKETCH_BYTES, (jbyte *)piece.sum);
  int result = run(env, &c, objects, numbers, length);
  if (result == GFSMITH_OK)
    (*env)->SetByteArrayRegion(env, sum, 0, GFSMITH_SKETCH_BYTES, (const jbyte *)piece.sum);
  return result;
}

/* The address of a codec, or a status, which is negative. */
static jlong created(gfsmith_status status, gfsmith_codec *codec) {
  return status == GFSMITH_OK ? (jlong)(intptr_t)codec : (jlong)status;
}

JNIEXPORT jlong JNICALL Java_org_gfsmith_Native_create(JNIEnv *env, jclass native, jstring code,
                                                       jint k, jint m) {
  (void)native;
  const char *name = (*env)->GetStringUTFChars(env, code, NULL);
  if (name == NULL)
    return GFSMITH_ENOMEM;
  gfsmith_codec *codec;
  gfsmith_status status = gfsmith_codec_create(&codec, name, (unsigned)k, (unsigned)m);
  (*env)->ReleaseStringUTFChars(env, code, name);
  return created(status, codec);
}

JNIEXPORT jlong JNICALL Java_org_gfsmith_Native_createMatrix(JNIEnv *env, jclass native,
                                                             jint polynomial, jint k, jint m,
                                                             jbyteArray parity) {
  (void)native;
  jbyte *matrix = (*env)->GetByteArrayElements(env, parity, NULL);
  if (matrix == NULL)
    return GFSMITH_ENOMEM;
  gfsmith_codec *codec;
  gfsmith_status status = gfsmith_codec_create_matrix(&codec, (unsigned)polynomial, (unsigned)k,
                                                      (unsigned)m, (const uint8_t *)matrix);
  (*env)->ReleaseByteArrayElements(env, parity, matrix, JNI_ABORT);
  return created(status, codec);
}

JNIEXPORT void JNICALL Java_org_gfsmith_Native_destroy(JNIEnv *env, jclass native, jlong codec) {
  (void)env, (void)native;
  gfsmith_codec_destroy((gfsmith_codec *)(intptr_t)codec);
}

JNIEXPORT jstring JNICALL Java_org_gfsmith_Native_isa(JNIEnv *env, jclass native) {
  (void)native;
  return (*env)->NewStringUTF(env, gfsmith_isa());
}

JNIEXPORT jstring JNICALL Java_org_gfsmith_Native_version(JNIEnv *env, jclass native) {
  (void)native;
  return (*env)->NewStringUTF(env, gfsmith_version());
}

JNIEXPORT jstring JNICALL Java_org_gfsmith_Native_message(JNIEnv *env, jclass native, jint status) {
  (void)native;
  return (*env)->NewStringUTF(env, gfsmith_strerror((gfsmith_status)status));
}
