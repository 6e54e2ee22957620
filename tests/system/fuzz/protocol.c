/* libFuzzer on input of the store from other programs: lines of clients, control messages, records.
 *
 * The first byte selects the kind; the rest is the input. GFSMITH_FUZZ_TEETH plants an error in a
 * condition of this file, which the fuzzer must find. */
#include "agent/parse.h"
#include "common/message.h"
#include "common/record.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_key(const request *r, const char *line, size_t length) {
  REQUIRE(r->key_bytes >= 1 && r->key_bytes <= PARSE_KEY_MAX);
  REQUIRE(r->key >= line && r->key + r->key_bytes <= line + length);
  for (size_t i = 0; i < r->key_bytes; i++)
    REQUIRE((unsigned char)r->key[i] > 0x20 && r->key[i] != 0x7f);
}

static void fuzz_line(const char *line, size_t length) {
  request r;
  unsigned keys = 0;
  const char *answer = parse_line(&r, line, length);
  if (answer != NULL) {
    REQUIRE(strcmp(answer, "ERROR") == 0 || strncmp(answer, "CLIENT_ERROR ", 13) == 0);
    return;
  }
  REQUIRE(!planted() || r.verb != VERB_CAS);
  REQUIRE(r.bytes <= INT64_MAX);
  if (r.verb >= VERB_STATS)
    return;
  require_key(&r, line, length);
  if (r.verb > VERB_GETS)
    return;
  do {
    require_key(&r, line, length);
    REQUIRE(++keys <= length);
  } while (parse_next_key(&r));
}

/* A decoded message encodes to the same bytes. */
static void fuzz_message(const uint8_t *bytes, size_t size) {
  message m;
  uint8_t again[GFSMITH_MESSAGE_MAX];
  if (!message_decode(&m, bytes, size))
    return;
  REQUIRE(message_encode(&m, again) == size && memcmp(again, bytes, size) == 0);
}

static void fuzz_record(const uint8_t *bytes, size_t size) {
  record r;
  uint8_t again[RECORD_MAX];
  if (!record_decode(&r, bytes, size))
    return;
  REQUIRE(r.key_bytes > 0 && r.key_bytes <= RECORD_KEY_MAX);
  REQUIRE(r.length <= RECORD_VALUE_MAX || r.length == RECORD_LOST);
  REQUIRE(record_encode(&r, again) == size && memcmp(again, bytes, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  /* a separate buffer, so that the sanitizer detects its end */
  uint8_t *bytes = malloc(size - 1 > 0 ? size - 1 : 1);
  if (bytes == NULL)
    abort();
  memcpy(bytes, data + 1, size - 1);
  if (data[0] % 4 == 1)
    fuzz_message(bytes, size - 1);
  else if (data[0] % 4 == 2)
    fuzz_record(bytes, size - 1);
  else
    fuzz_line((const char *)bytes, size - 1);
  free(bytes);
  return 0;
}
