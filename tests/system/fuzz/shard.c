/* libFuzzer on the shard files of apps/stripe: hostile headers, alone and in a set of files.
 *
 * The first byte selects the form of the input: raw bytes, a valid header with some fields changed
 * and a new checksum, or up to five files of a set that are changed, get new checksums or are
 * truncated, then opened and scanned as `stripe verify` does. GFSMITH_FUZZ_TEETH plants an error in
 * a condition of this file, which the fuzzer must find. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"
#include "report.h"
#include "shardset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 5, MOST_DATA = 4, MOST_PARITY = 2, MOST_BYTES = 1024, MOST_PAYLOAD = 1024 };

typedef struct file {
  uint8_t bytes[SHARD_HEADER_BYTES + MOST_PAYLOAD];
  size_t size;
  bool changed;
} file;

static int memory_file[FILES] = {-1, -1, -1, -1, -1};

/* Beginnings of fields, which are changed more often than other bytes. */
static const uint16_t fields[] = {0,  8,  12, 16, 32,  36,  64,   68,
                                  72, 76, 80, 88, 104, 136, 4096, 8176};

/* ceil(n / d) */
static unsigned __int128 parts(unsigned __int128 n, unsigned __int128 d) { return (n + d - 1) / d; }

/* Checks the guarantees of a good header: its ranges, and sizes that do not overflow. */
static void require_good(const shard_header *header) {
  REQUIRE(header->k >= 1 && header->m >= 1 && header->k + header->m <= SHARD_MAX_SHARDS);
  REQUIRE(header->k < 100 || !planted());
  REQUIRE(header->index < header->k + header->m);
  REQUIRE(header->block >= 64 && header->block <= SHARD_MAX_BLOCK && header->block % 64 == 0);
  REQUIRE(header->length <= SHARD_MAX_LENGTH);
  REQUIRE(memchr(header->name, 0, sizeof header->name) != NULL);
  REQUIRE(strchr(header->name, '/') == NULL && header->name[0] != 0);
  REQUIRE(memchr(header->code, 0, sizeof header->code) != NULL);
  unsigned __int128 span = (unsigned __int128)header->k * header->block, length = header->length;
  unsigned __int128 stripes = parts(length, span), payload = 0;
  REQUIRE(shard_stripes(header) == stripes);
  if (stripes > 0) {
    unsigned __int128 rest = parts(length - (stripes - 1) * span, header->k);
    payload = (stripes - 1) * header->block + rest;
    REQUIRE(shard_stripe_bytes(header, (uint64_t)stripes - 1) == rest);
    REQUIRE(shard_stripe_offset(header, (uint64_t)stripes - 1) + rest ==
            SHARD_HEADER_BYTES + payload);
  }
  REQUIRE(shard_payload_bytes(header) == payload);
}

/* Reads `size` bytes as a header; they end at the end of the memory. */
static void read_header(const uint8_t *bytes, size_t size) {
  uint8_t *exact = malloc(size > 0 ? size : 1), again[SHARD_HEADER_BYTES];
  char why[SHARD_WHY_BYTES] = "";
  shard_header header;
  REQUIRE(exact != NULL);
  memcpy(exact, bytes, size);
  shard_verdict verdict = shard_header_read(&header, exact, size, why);
  if (verdict == SHARD_BAD)
    REQUIRE(why[0] != 0 && memchr(why, 0, sizeof why) != NULL);
  if (verdict == SHARD_GOOD) {
    require_good(&header);
    shard_header_write(&header, again);
    REQUIRE(memcmp(again, exact, SHARD_HEADER_BYTES) == 0);
  }
  free(exact);
}

/* Corrects set id and checksum. */
static void sign(uint8_t *raw) {
  shard_sum sum = shard_sum_of(raw + SHARD_SHARED_BEGIN, SHARD_SHARED_END - SHARD_SHARED_BEGIN);
  memcpy(raw + 16, sum.bytes, sizeof sum.bytes);
  sum = shard_sum_of(raw, SHARD_SHARED_END);
  memcpy(raw + SHARD_SHARED_END, sum.bytes, sizeof sum.bytes);
}

/* Changes up to 4 places of a file, sometimes the checksum of its header, and its length. */
static void change(input *in, file *f) {
  unsigned how = (unsigned)take(in, 1);
  for (unsigned n = how % 5; n > 0; n--) {
    uint8_t value[8], bytes = (uint8_t)(1u << take_below(in, 4));
    unsigned choice = take_below(in, 32), at = fields[choice % 16];
    if (choice >= 16)
      at = take_below(in, 8192 + MOST_PAYLOAD);
    take_bytes(in, value, sizeof value);
    if (at + bytes > f->size)
      continue;
    memcpy(f->bytes + at, value, bytes);
    f->changed = true;
  }
  if (how & 64 && f->size >= SHARD_HEADER_BYTES)
    sign(f->bytes);
  if (how & 128) {
    f->size = take_below(in, sizeof f->bytes + 1);
    f->changed = true;
  }
}

/* Makes the shards of a file of `length` bytes, with byte b of block s a mix of both. */
static void make_shards(shard_header *header, file *files) {
  gfsmith_codec *codec;
  unsigned shards = header->k + header->m;
  size_t payload = (size_t)shard_payload_bytes(header);
  uint8_t *block[MOST_DATA + MOST_PARITY];
  REQUIRE(payload <= MOST_PAYLOAD);
  memset(files, 0, shards * sizeof *files);
  REQUIRE(gfsmith_codec_create(&codec, header->code, header->k, header->m) == GFSMITH_OK);
  for (unsigned s = 0; s < shards; s++) {
    block[s] = files[s].bytes + SHARD_HEADER_BYTES;
    files[s].size = SHARD_HEADER_BYTES + payload;
    for (size_t b = 0; b < payload; b++)
      block[s][b] = (uint8_t)(b * 31 + s * 7 + 1);
  }
  REQUIRE(gfsmith_encode(codec, payload, (const uint8_t *const *)block, block + header->k) ==
          GFSMITH_OK);
  gfsmith_codec_destroy(codec);
  for (unsigned s = 0; s < shards; s++)
    header->payload[s] = shard_sum_of(block[s], payload);
  for (header->index = 0; header->index < shards; header->index++)
    shard_header_write(header, files[header->index].bytes);
}

static shard_header small_header(input *in) {
  shard_header header;
  memset(&header, 0, sizeof header);
  header.k = 1 + take_below(in, MOST_DATA);
  header.m = 1 + take_below(in, MOST_PARITY);
  header.block = 64 * (1 + take_below(in, 3));
  header.length = take_below(in, MOST_BYTES + 1);
  header.polynomial = SHARD_POLYNOMIAL;
  strcpy(header.code, "cauchy");
  strcpy(header.name, "file");
  return header;
}

/* Checks the scan of a set with these files, `given` of them. */
static void require_scanned(const shard_set *set, const file *files, const unsigned *given,
                            unsigned count, bool parity_ok) {
  bool untouched = true;
  require_good(&set->header);
  REQUIRE(set->shards == set->header.k + set->header.m);
  for (unsigned n = 0; n < count; n++)
    untouched = untouched && !files[given[n]].changed;
  if (!untouched)
    return;
  REQUIRE(parity_ok && shard_set_intact(set) == count);
  for (unsigned n = 0; n < count; n++)
    REQUIRE(set->slots[given[n]].intact);
}

/* Opens some of the files as one set, and scans it. */
static void open_set(input *in, const file *files, unsigned shards) {
  char path[FILES][32];
  char *paths[FILES];
  unsigned given[FILES], count = 1 + take_below(in, shards < FILES ? shards : FILES);
  unsigned first = take_below(in, shards);
  int before = dup(0);
  shard_set *set = malloc(sizeof *set);
  bool parity_ok = false;
  REQUIRE(set != NULL && before >= 0);
  for (unsigned n = 0; n < count; n++) {
    const file *f = &files[given[n] = (first + n) % shards];
    REQUIRE(ftruncate(memory_file[n], (off_t)f->size) == 0);
    REQUIRE(pwrite(memory_file[n], f->bytes, f->size, 0) == (ssize_t)f->size);
    snprintf(path[n], sizeof path[n], "/proc/self/fd/%d", memory_file[n]);
    paths[n] = path[n];
  }
  int status = shard_set_open(set, paths, count);
  REQUIRE(status == STRIPE_OK || status == STRIPE_REFUSED);
  if (status == STRIPE_OK) {
    REQUIRE(shard_set_scan(set, true, &parity_ok) == STRIPE_OK);
    require_scanned(set, files, given, count, parity_ok);
    status = shard_set_require(set);
    REQUIRE((status == STRIPE_OK) == (shard_set_intact(set) >= set->header.k));
  }
  shard_set_close(set);
  free(set);
  close(before);
  int after = dup(0); /* no descriptor remains open */
  REQUIRE(after == before);
  close(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static file files[MOST_DATA + MOST_PARITY];
  input in = {data, size};
  for (unsigned n = 0; n < FILES && memory_file[n] < 0; n++)
    REQUIRE((memory_file[n] = memfd_create("shard", MFD_CLOEXEC)) >= 0);
  unsigned mode = take_below(&in, 4);
  if (mode == 0) {
    read_header(in.at, in.left);
    return 0;
  }
  shard_header header = small_header(&in);
  unsigned shards = header.k + header.m;
  make_shards(&header, files);
  for (unsigned s = 0; s < (mode == 1 ? 1 : shards); s++)
    change(&in, &files[s]);
  if (mode == 1)
    read_header(files[0].bytes, files[0].size);
  else
    open_set(&in, files, shards);
  return 0;
}
