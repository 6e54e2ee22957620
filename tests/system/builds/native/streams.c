/* A program outside of the project that uses libgfsmith-shards: it splits an original in memory
 * into 3 + 2 streams, loses one, damages another and joins the original again. */
#include <gfsmith_shards.h>

#include <stdio.h>
#include <string.h>

enum { K = 3, M = 2, LENGTH = 100000, CAPACITY = 200000 };

typedef struct stream {
  uint8_t bytes[CAPACITY];
  size_t length, position;
} stream;

static stream original, shards[K + M], restored;

static ptrdiff_t read_stream(void *context, void *to, size_t size) {
  stream *from = context;
  size_t left = from->length - from->position;
  size_t done = size < left ? size : left;
  memcpy(to, from->bytes + from->position, done);
  from->position += done;
  return (ptrdiff_t)done;
}

static bool write_stream(void *context, const void *bytes, size_t size) {
  stream *to = context;
  if (size > CAPACITY - to->length)
    return false;
  memcpy(to->bytes + to->length, bytes, size);
  to->length += size;
  return true;
}

int main(void) {
  original.length = LENGTH;
  for (size_t i = 0; i < LENGTH; i++)
    original.bytes[i] = (uint8_t)(i * i >> 3);
  gfsmith_shards_header header = {
      .code = "cauchy", .k = K, .m = M, .block = 1024, .generation = 1, .name = "original"};
  gfsmith_shards_source whole = {.read = read_stream, .context = &original, .index = -1};
  gfsmith_shards_sink sinks[K + M];
  for (int i = 0; i < K + M; i++)
    sinks[i] = (gfsmith_shards_sink){write_stream, &shards[i]};
  int split = gfsmith_shards_split(&header, &whole, sinks, NULL, NULL);

  shards[4].bytes[5000] ^= 1;
  gfsmith_shards_source left[] = {
      {.read = read_stream, .context = &shards[4], .index = -1},
      {.read = read_stream, .context = &shards[1], .index = -1},
      {.read = read_stream, .context = &shards[2], .index = -1},
      {.read = read_stream, .context = &shards[3], .index = -1},
  };
  static gfsmith_shards_report report;
  gfsmith_shards_sink to = {write_stream, &restored};
  int joined = gfsmith_shards_join(left, 4, &to, NULL, &report);
  bool same = restored.length == LENGTH && !memcmp(restored.bytes, original.bytes, LENGTH);
  printf("%s, %s: %s\n", gfsmith_shards_strerror(split), gfsmith_shards_strerror(joined),
         same ? "same" : "differ");
  return same ? 0 : 1;
}
