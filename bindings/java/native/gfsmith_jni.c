/* gfsmith_jni.c: the native methods of org.gfsmith.Native.
 *
 * A call gets its shards as an array of objects and one array of numbers, n of each kind: offsets
 * in bytes, owners and roles. A shard without bytes has the role ABSENT. The owner of a shard in
 * memory outside of the heap (a direct ByteBuffer) is DIRECT; otherwise it is the first shard in
 * the same byte[]. So each array is held once, and the call is right on virtual machines that
 * copy arrays in and out. */
#include "gfsmith.h"

#include <jni.h>

/** Bytes of a shard that one hold of the arrays covers: the garbage collector may wait meanwhile.
 */
#define PIECE ((size_t)256 * 1024)

enum { ENCODE, RECONSTRUCT, CHECK, UPDATE }; /* as in Native.java */
enum { DIRECT = -1 };                        /* an owner */
enum { ABSENT, READ, WRITE };                /* roles */
enum { OFFSETS, OWNERS, ROLES, NUMBERS };    /* the kinds of numbers */
enum { MATCHES = GFSMITH_OK, DIFFERS = 1 };  /* results of CHECK */
enum { MOST_SHARDS = GFSMITH_MAX_SHARDS };

typedef struct call {
  const gfsmith_codec *codec;
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
  return gfsmith_reconstruct(c->codec, len, shards, present, wanted);
}

static int check(const call *c, size_t len, uint8_t *const *shards) {
  bool matches = true;
  gfsmith_status status = gfsmith_check(c->codec, len, (const uint8_t *const *)shards, &matches);
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
    return gfsmith_encode(c->codec, len, (const uint8_t *const *)shards, shards + c->inputs);
  case RECONSTRUCT:
    return reconstruct(c, len, shards);
  case CHECK:
    return check(c, len, shards);
  default:
    return gfsmith_update(c->codec, len, (unsigned)c->index, shards[0], shards + c->inputs);
  }
}

static int execute_in_pieces(JNIEnv *env, call *c, size_t length) {
  size_t begin = 0;
  int result;
  do {
    size_t len = length - begin < PIECE ? length - begin : PIECE;
    if (!hold(env, c))
      return GFSMITH_ENOMEM;
    result = execute(c, begin, len);
    release(env, c, c->count);
    begin += len;
  } while (result == GFSMITH_OK && begin < length);
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
            .inputs = inputs,
            .count = (*env)->GetArrayLength(env, objects)};
  if ((*env)->PushLocalFrame(env, c.count) != 0)
    return GFSMITH_ENOMEM;
  describe(env, &c, objects, numbers);
  int result =
      c.in_arrays ? execute_in_pieces(env, &c, (size_t)length) : execute(&c, 0, (size_t)length);
  (*env)->PopLocalFrame(env, NULL);
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
