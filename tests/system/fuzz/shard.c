/* libFuzzer on shard streams: hostile headers, alone and in sets of damaged streams.
 *
 * The first byte selects the form of the input: raw bytes as a header, a valid header with changed
 * fields and a new checksum, or the streams of a set that are changed, get new checksums, are
 * truncated or left out; then they are verified, joined and repaired. GFSMITH_FUZZ_TEETH plants an
 * error in a condition of this file, which the fuzzer must find. */
#include "input.h"

#include "checksum.h"
#include "format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_DATA = 4, MOST_PARITY = 2, MOST_SHARDS = 6, MOST_BYTES = 1024, MOST_STREAM = 4096 };

typedef struct stream {
  uint8_t bytes[MOST_STREAM];
  size_t size, at;
  bool changed, left_out;
} stream;

/* Beginnings of fields, which are changed more often than other bytes. */
static const uint16_t fields[] = {0,  8,  12, 16, 32,  40,  44,  48,  52,  56,
                                  60, 64, 68, 72, 104, 360, 496, 512, 536, 544};

/* Checks the guarantees of a good header. */
static void require_good(const gfsmith_shards_header *h) {
  REQUIRE(h->k >= 1 && h->m >= 1 && h->k + h->m <= GFSMITH_MAX_SHARDS);
  REQUIRE(h->k < 100 || !planted());
  REQUIRE(h->index < h->k + h->m);
  REQUIRE(h->block >= 64 && h->block <= GFSMITH_SHARDS_MAX_BLOCK && h->block % 64 == 0);
  REQUIRE(memchr(h->name, 0, sizeof h->name) != NULL && strchr(h->name, '/') == NULL);
  REQUIRE(memchr(h->code, 0, sizeof h->code) != NULL && h->code[0] != 0);
  REQUIRE(h->generation >= 1 && h->generation <= GFSMITH_SHARDS_MAX_GENERATION);
}

/* Reads `size` bytes as a header; they end at the end of the memory. */
static void read_header(const uint8_t *bytes, size_t size) {
  uint8_t *exact = malloc(size > 0 ? size : 1), again[GFSMITH_SHARDS_HEADER];
  const char *why = NULL;
  gfsmith_shards_header header;
  REQUIRE(exact != NULL);
  memcpy(exact, bytes, size);
  int status = gfsmith_shards_header_read(&header, exact, size, &why);
  REQUIRE((status == GFSMITH_OK) == (why == NULL));
  if (status == GFSMITH_OK) {
    require_good(&header);
    REQUIRE(gfsmith_shards_header_write(&header, again) == GFSMITH_OK);
    REQUIRE(memcmp(again, exact, sizeof again) == 0);
  }
  free(exact);
}

static void sign(uint8_t *raw) { gfs_shards_canonical(raw + 496, XXH3_128bits(raw, 496)); }

/* Changes up to 4 places of a stream, sometimes the checksum of its header, and its length. */
static void change(input *in, stream *s) {
  unsigned how = (unsigned)take(in, 1);
  for (unsigned n = how % 5; n > 0; n--) {
    uint8_t value[8], bytes = (uint8_t)(1u << take_below(in, 4));
    unsigned choice = take_below(in, 40), at = fields[choice % 20];
    if (choice >= 20)
      at = take_below(in, MOST_STREAM);
    take_bytes(in, value, sizeof value);
    if (at + bytes > s->size)
      continue;
    memcpy(s->bytes + at, value, bytes);
    s->changed = true;
  }
  if (how & 64 && s->size >= GFSMITH_SHARDS_HEADER)
    sign(s->bytes);
  if (how & 128) {
    s->size = take_below(in, (unsigned)s->size + 9);
    s->changed = true;
  }
  s->left_out = how % 5 == 4;
}

static ptrdiff_t read_stream(void *context, void *to, size_t size) {
  stream *s = context;
  size_t n = size < s->size - s->at ? size : s->size - s->at;
  memcpy(to, s->bytes + s->at, n);
  s->at += n;
  return (ptrdiff_t)n;
}

static bool write_stream(void *context, const void *bytes, size_t size) {
  stream *s = context;
  REQUIRE(size <= MOST_STREAM - s->size);
  memcpy(s->bytes + s->size, bytes, size);
  s->size += size;
  return true;
}

/* The reader of hostile sets may produce more than fits: it refuses. */
static bool write_bounded(void *context, const void *bytes, size_t size) {
  stream *s = context;
  return size <= MOST_STREAM - s->size && write_stream(context, bytes, size);
}

static gfsmith_shards_header small_header(input *in) {
  gfsmith_shards_header h = {.generation = 1};
  h.k = 1 + take_below(in, MOST_DATA);
  h.m = 1 + take_below(in, MOST_PARITY);
  h.block = 64 * (1 + take_below(in, 3));
  strcpy(h.code, "cauchy");
  strcpy(h.name, "file");
  return h;
}

static void make_streams(const gfsmith_shards_header *h, stream *original, stream *streams) {
  gfsmith_shards_source source = {read_stream, NULL, original, -1};
  gfsmith_shards_sink sinks[MOST_SHARDS];
  uint64_t length;
  for (unsigned i = 0; i < h->k + h->m; i++) {
    streams[i] = (stream){.size = 0};
    sinks[i] = (gfsmith_shards_sink){write_stream, &streams[i]};
  }
  REQUIRE(gfsmith_shards_split(h, &source, sinks, NULL, &length) == GFSMITH_OK);
  REQUIRE(length == original->size);
}

typedef struct set {
  stream *streams;
  unsigned shards, count, damaged;
  gfsmith_shards_source sources[MOST_SHARDS];
} set;

/* The streams that are not left out, from any of them on. */
static void choose(input *in, set *s) {
  unsigned first = take_below(in, s->shards);
  for (unsigned n = 0; n < s->shards; n++) {
    stream *each = &s->streams[(first + n) % s->shards];
    each->at = 0;
    s->damaged += each->changed || each->left_out;
    if (!each->left_out)
      s->sources[s->count++] =
          (gfsmith_shards_source){read_stream, NULL, each, (int)((first + n) % s->shards)};
  }
}

static void rewind_all(set *s) {
  for (unsigned i = 0; i < s->shards; i++)
    s->streams[i].at = 0;
}

/* Verify, join and repair. With at most m damaged streams, all of them restore the original. */
static void use_set(set *s, const gfsmith_shards_header *h, const stream *original, bool forged) {
  static stream out, rebuilt[MOST_SHARDS];
  gfsmith_shards_report report;
  gfsmith_shards_control control = {.memory = 1};
  gfsmith_shards_sink sink = {write_bounded, &out}, sinks[GFSMITH_MAX_SHARDS] = {0};
  int status = gfsmith_shards_verify(s->sources, s->count, &control, &report);
  bool whole = status == GFSMITH_OK && report.lost_stripes == 0;
  REQUIRE(forged || s->damaged > h->m || whole);
  rewind_all(s);
  out = (stream){.size = 0};
  status = gfsmith_shards_join(s->sources, s->count, &sink, &control, &report);
  REQUIRE(forged || s->damaged > h->m || status == GFSMITH_OK);
  if (status == GFSMITH_OK && !forged)
    REQUIRE(out.size == original->size && memcmp(out.bytes, original->bytes, out.size) == 0);
  if (status == GFSMITH_OK)
    REQUIRE(out.size == report.length);
  rewind_all(s);
  for (unsigned i = 0; i < s->shards; i++) {
    rebuilt[i] = (stream){.size = 0};
    sinks[i] = (gfsmith_shards_sink){write_bounded, &rebuilt[i]};
  }
  status = gfsmith_shards_repair(s->sources, s->count, sinks, &control, &report);
  REQUIRE(forged || s->damaged > h->m || status == GFSMITH_OK);
  for (unsigned i = 0; i < s->shards && status == GFSMITH_OK && !forged; i++)
    REQUIRE(s->streams[i].changed ||
            (rebuilt[i].size == s->streams[i].size &&
             memcmp(rebuilt[i].bytes, s->streams[i].bytes, rebuilt[i].size) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static stream original, streams[MOST_SHARDS];
  input in = {data, size};
  unsigned mode = take_below(&in, 4);
  if (mode == 0) {
    read_header(in.at, in.left);
    return 0;
  }
  gfsmith_shards_header header = small_header(&in);
  original = (stream){.size = take_below(&in, MOST_BYTES + 1)};
  for (size_t b = 0; b < original.size; b++)
    original.bytes[b] = (uint8_t)(b * 31 + 1);
  make_streams(&header, &original, streams);
  set s = {.streams = streams, .shards = header.k + header.m};
  bool forged = false;
  for (unsigned i = 0; i < (mode == 1 ? 1 : s.shards); i++) {
    uint8_t before[GFSMITH_SHARDS_HEADER];
    memcpy(before, streams[i].bytes, sizeof before);
    change(&in, &streams[i]);
    gfsmith_shards_header found;
    /* A valid header with other fields is no damage, but another set or another index. */
    forged = forged || (memcmp(before, streams[i].bytes, sizeof before) != 0 &&
                        gfsmith_shards_header_read(&found, streams[i].bytes, streams[i].size,
                                                   NULL) == GFSMITH_OK);
  }
  if (mode == 1) {
    read_header(streams[0].bytes, streams[0].size);
    return 0;
  }
  choose(&in, &s);
  if (s.count > 0)
    use_set(&s, &header, &original, forged);
  return 0;
}
