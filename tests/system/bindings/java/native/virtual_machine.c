/* virtual_machine.c: loads the native library of bindings/java, named by the argument, into a
 * virtual machine of its own: the functions of JNI that the library uses, with arrays that are
 * copied in and out as the specification allows. It runs on machines for which there is no Java
 * here, under qemu. */
#include <dlfcn.h>
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 5, M = 3, N = K + M, LENGTH = 600000, OFFSET = 3 };
enum { ENCODE, RECONSTRUCT, CHECK, UPDATE };
enum { DIRECT = -1, ABSENT = 0, READ, WRITE };

typedef struct object {
  size_t size; /* bytes */
  uint8_t *bytes;
} object;

static object *at(void *reference) { return reference; }

static jsize JNICALL get_array_length(JNIEnv *env, jarray array) {
  (void)env;
  return (jsize)(at(array)->size / sizeof(jobject));
}
static jobject JNICALL get_element(JNIEnv *env, jobjectArray array, jsize index) {
  (void)env;
  return ((jobject *)at(array)->bytes)[index];
}
static void JNICALL get_int_region(JNIEnv *env, jintArray array, jsize first, jsize count,
                                   jint *out) {
  (void)env;
  memcpy(out, (jint *)at(array)->bytes + first, (size_t)count * sizeof *out);
}
static void *JNICALL get_direct(JNIEnv *env, jobject buffer) {
  (void)env;
  return at(buffer)->bytes;
}
static jint JNICALL push_frame(JNIEnv *env, jint count) {
  (void)env, (void)count;
  return 0;
}
static jobject JNICALL pop_frame(JNIEnv *env, jobject result) {
  (void)env;
  return result;
}
static void *JNICALL hold(JNIEnv *env, jarray array, jboolean *copied) {
  (void)env, (void)copied;
  void *copy = malloc(at(array)->size);
  return copy == NULL ? NULL : memcpy(copy, at(array)->bytes, at(array)->size);
}
static void JNICALL release(JNIEnv *env, jarray array, void *copy, jint mode) {
  (void)env;
  if (mode != JNI_ABORT)
    memcpy(at(array)->bytes, copy, at(array)->size);
  free(copy);
}
static const char *JNICALL get_utf(JNIEnv *env, jstring text, jboolean *copied) {
  (void)env, (void)copied;
  return (const char *)at(text)->bytes;
}
static void JNICALL release_utf(JNIEnv *env, jstring text, const char *chars) {
  (void)env, (void)text, (void)chars;
}

static const struct JNINativeInterface_ functions = {.GetArrayLength = get_array_length,
                                                     .GetObjectArrayElement = get_element,
                                                     .GetIntArrayRegion = get_int_region,
                                                     .GetDirectBufferAddress = get_direct,
                                                     .PushLocalFrame = push_frame,
                                                     .PopLocalFrame = pop_frame,
                                                     .GetPrimitiveArrayCritical = hold,
                                                     .ReleasePrimitiveArrayCritical = release,
                                                     .GetStringUTFChars = get_utf,
                                                     .ReleaseStringUTFChars = release_utf};
static JNIEnv machine = &functions;

static jlong (*create)(JNIEnv *, jclass, jstring, jint, jint);
static jint (*run)(JNIEnv *, jclass, jlong, jint, jint, jint, jobjectArray, jintArray, jint);
static void (*destroy)(JNIEnv *, jclass, jlong);

static void require(bool condition, const char *what) {
  if (!condition) {
    fprintf(stderr, "virtual_machine: %s\n", what);
    exit(1);
  }
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  require(found != NULL, name);
  return found;
}

static unsigned times(unsigned a, unsigned b) {
  unsigned product = 0;
  for (int bit = 7; bit >= 0; bit--)
    product = (product << 1) ^ (product >> 7) * 0x11d ^ ((b >> bit) & 1) * a;
  return product;
}

static unsigned inverse(unsigned a) {
  unsigned b = 1;
  while (times(a, b) != 1)
    b++;
  return b;
}

static uint8_t bytes[N][OFFSET + LENGTH];
static object shards[N];
static jobject references[N];
static jint numbers[3 * N];

/* All shards in arrays, or all outside of the heap; outputs are those in `written`. */
static jint call(jlong codec, jint operation, bool in_arrays, const bool *written) {
  for (int i = 0; i < N; i++) {
    shards[i] = (object){sizeof bytes[i], bytes[i]};
    references[i] = (jobject)&shards[i];
    numbers[i] = OFFSET;
    numbers[N + i] = in_arrays ? i : DIRECT;
    numbers[2 * N + i] = written[i] ? WRITE : READ;
  }
  object objects = {sizeof references, (uint8_t *)references};
  object described = {sizeof numbers, (uint8_t *)numbers};
  return run(&machine, NULL, codec, operation, 0, K, (jobjectArray)&objects, (jintArray)&described,
             LENGTH);
}

static bool encoded(void) {
  for (int i = 0; i < M; i++) {
    for (int b = 0; b < LENGTH; b += 97) {
      unsigned sum = 0;
      for (int j = 0; j < K; j++)
        sum ^= times(inverse((unsigned)((K + i) ^ j)), bytes[j][OFFSET + b]);
      if (sum != bytes[K + i][OFFSET + b])
        return false;
    }
  }
  return true;
}

static void operate(jlong codec, bool in_arrays) {
  const bool parities[N] = {[K] = true, [K + 1] = true, [K + 2] = true};
  const bool lost[N] = {[1] = true, [4] = true, [6] = true};
  static uint8_t before[N][OFFSET + LENGTH];
  for (int i = 0; i < N; i++)
    for (int b = 0; b < OFFSET + LENGTH; b++)
      bytes[i][b] = (uint8_t)rand();
  require(call(codec, ENCODE, in_arrays, parities) == 0 && encoded(), "encode differs");
  require(call(codec, CHECK, in_arrays, (bool[N]){false}) == 0, "check refuses the parities");
  memcpy(before, bytes, sizeof bytes);
  for (int i = 0; i < N; i++)
    if (lost[i])
      memset(bytes[i] + OFFSET, 0, LENGTH);
  require(call(codec, CHECK, in_arrays, (bool[N]){false}) == 1, "check accepts wrong shards");
  require(call(codec, RECONSTRUCT, in_arrays, lost) == 0, "reconstruct fails");
  require(memcmp(before, bytes, sizeof bytes) == 0, "reconstruct differs");
}

int main(int count, char **arguments) {
  require(count == 2, "usage: virtual_machine LIBRARY");
  void *library = dlopen(arguments[1], RTLD_NOW);
  require(library != NULL, count == 2 ? dlerror() : "");
  *(void **)&create = symbol(library, "Java_org_gfsmith_Native_create");
  *(void **)&run = symbol(library, "Java_org_gfsmith_Native_run");
  *(void **)&destroy = symbol(library, "Java_org_gfsmith_Native_destroy");
  object name = {sizeof "cauchy", (uint8_t *)"cauchy"};
  require(create(&machine, NULL, (jstring)&name, 0, M) < 0, "a codec without data");
  jlong codec = create(&machine, NULL, (jstring)&name, K, M);
  require(codec > 0, "no codec");
  operate(codec, false);
  operate(codec, true);
  destroy(&machine, NULL, codec);
  puts("as defined");
  return 0;
}
