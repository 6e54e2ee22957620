/* libFuzzer on the input of a node of composed primitives from a peer: frames, the bodies of
 * control messages, trailers of slices, and greetings. The first byte selects the kind.
 *
 * Between two nodes that greet each other, the input is the attacker: it delivers, repeats, changes
 * and invents greetings. GFSMITH_FUZZ_TEETH plants an error in conditions of this file. */
#include "frame.h"
#include "handshake.h"
#include "input.h"
#include "timer.h"
#include "wire.h"

#include <endian.h>
#include <sodium.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a clock and a source of numbers that depend on the input only ---- */

static uint64_t now_ms, drawn;

uint64_t gfc_now(void) { return now_ms; }

static const char *source_name(void) { return "counter"; }
static uint32_t source_number(void) { return (uint32_t)++drawn; }
static void source_bytes(void *const to, const size_t size) {
  drawn++;
  for (size_t n = 0; n < size; n++)
    ((uint8_t *)to)[n] = (uint8_t)(XXH3_64bits(&drawn, sizeof drawn) >> n % 8 * 8) ^ (uint8_t)n;
}

static struct randombytes_implementation source = {
    .implementation_name = source_name, .random = source_number, .buf = source_bytes};

/* ---- frames ---- */

static void fuzz_frame(input *in) {
  static const gfc_seal seal = {.frames = "a key of frames"};
  uint8_t bytes[GFC_FRAME_MAX], again[GFC_FRAME_MAX];
  gfc_frame frame;
  bool sealed = take_below(in, 4) != 0;
  size_t size = in->left < sizeof bytes ? in->left : sizeof bytes;
  take_bytes(in, bytes, size);
  sealed = sealed && size >= GFC_HEAD_BYTES;
  if (sealed) {
    uint64_t number;
    bytes[GFC_HEAD_BYTES - 1] = 0; /* as the writer leaves it */
    memcpy(&number, bytes + GFC_TAG_BYTES, sizeof number);
    gfc_seal_frame(&seal, le64toh(number), bytes + GFC_TAG_BYTES, size - GFC_TAG_BYTES, bytes);
  }
  if (gfc_frame_read(&frame, bytes, size, &seal) != NULL)
    return;
  REQUIRE(sealed && frame.body == bytes + GFC_HEAD_BYTES && frame.bytes == size - GFC_HEAD_BYTES);
  REQUIRE(!planted() || frame.type != GFC_PONG);
  REQUIRE(gfc_frame_write(again, &frame, &seal) == size && memcmp(again, bytes, size) == 0);
}

/* ---- bodies: accepted bytes are written again as the same bytes ---- */

static void fuzz_bodies(const uint8_t *body, size_t size) {
  uint8_t again[GFSMITH_MESSAGE_MAX];
  gfc_grant grant;
  gfc_refusal refusal;
  gfc_receipt receipt;
  if (gfc_get_grant(&grant, body, size))
    REQUIRE(gfc_put_grant(again, &grant) == size && memcmp(again, body, size) == 0);
  if (gfc_get_receipt(&receipt, body, size))
    REQUIRE(gfc_put_receipt(again, &receipt) == size && memcmp(again, body, size) == 0);
  if (!gfc_get_refusal(&refusal, body, size))
    return;
  REQUIRE(refusal.code < 0 && refusal.blame < GFSMITH_RANKS_MAX);
  for (const char *at = refusal.reason; *at; at++)
    REQUIRE(*at >= 0x20 && *at < 0x7f);
  REQUIRE(gfc_put_refusal(again, &refusal) == size);
  REQUIRE(memcmp(again, body, GFC_REFUSAL_MAX - GFSMITH_REASON_MAX) == 0);
}

/* ---- trailers: a right one is accepted, and none with a changed byte ---- */

static void fuzz_trailer(input *in) {
  uint8_t trailer[GFC_TRAILER_BYTES], payload[64];
  uint64_t job = take(in, 8);
  uint32_t slice = (uint32_t)take(in, 4);
  size_t bytes = take_below(in, sizeof payload + 1), at = take_below(in, sizeof trailer);
  uint8_t change = (uint8_t)take(in, 1);
  take_bytes(in, payload, bytes);
  gfc_checksum *sum = gfc_checksum_create();
  REQUIRE(sum != NULL);
  gfc_trailer_head(trailer, job, slice, bytes);
  gfc_checksum_begin(sum, trailer);
  gfc_checksum_add(sum, payload, bytes / 3);
  gfc_checksum_add(sum, payload + bytes / 3, bytes - bytes / 3);
  gfc_checksum_end(sum, trailer);
  gfc_checksum_free(sum);
  REQUIRE(gfc_trailer_check(trailer, job, slice, payload, bytes) == NULL);
  trailer[at] ^= change;
  REQUIRE((gfc_trailer_check(trailer, job, slice, payload, bytes) == NULL) == (change == 0));
}

/* ---- greetings ---- */

enum { STEPS = 24, CONNECTS = 5, LISTENS = 3, WAIT_MS = 1000 };

/* All that the two nodes have sent, which the attacker may deliver again. */
typedef struct mail {
  gfc_reply sent[STEPS + 1];
  unsigned count;
} mail;

/* A proof that the connecting side has sent, and the answer of the listening side if it has
 * admitted it. */
typedef struct exchange {
  gfc_reply proof, welcome; /* `bytes` is 0 if there is none */
  unsigned attempt;
} exchange;

typedef struct scene {
  gfc_handshake near, far; /* the side that connects, and the side that listens */
  gfc_attempt attempt;
  unsigned attempts;
  mail mail;
  exchange exchanges[STEPS];
  unsigned count;
} scene;

static void post(mail *to, const gfc_reply *reply) { to->sent[to->count++] = *reply; }

/* Choose a greeting: one that was sent, the same with a changed byte, or anything. */
static gfc_reply choose(const mail *from, input *in) {
  gfc_reply chosen = {.bytes = 0};
  unsigned how = take_below(in, 8);
  if (how > 0 && from->count > 0) {
    unsigned behind = how < 5 ? 0 : take_below(in, from->count);
    chosen = from->sent[from->count - 1 - behind];
    if (how == 4 || how == 7)
      chosen.data[take_below(in, GFC_GREETING_MAX)] ^= (uint8_t)take(in, 1);
  } else {
    chosen.bytes = take_below(in, GFC_GREETING_MAX + 1);
    take_bytes(in, chosen.data, chosen.bytes);
  }
  return chosen;
}

/* Bytes behind a greeting are ignored, since some providers append some. */
static bool equal(const gfc_reply *sent, const gfc_reply *heard) {
  return sent->bytes > 0 && heard->bytes >= sent->bytes &&
         memcmp(sent->data, heard->data, sent->bytes) == 0;
}

static void ask(scene *s) {
  gfc_reply reply = {.bytes = 0};
  s->attempt = (gfc_attempt){.peer = LISTENS, .key = s->near.current};
  s->attempts++;
  gfc_handshake_ask(&s->near, LISTENS, &s->attempt.dialogue, &reply);
  post(&s->mail, &reply);
}

/* Only proofs of the node with the key are admitted, each once. */
static void to_listener(scene *s, input *in) {
  gfc_reply heard = choose(&s->mail, in), reply = {.bytes = 0};
  gfc_admission got;
  uint16_t rank = 0;
  gfc_verdict verdict =
      gfc_handshake_judge(&s->far, &(gfc_heard){heard.data, heard.bytes}, &rank, &reply, &got);
  REQUIRE(reply.bytes > 0 && reply.bytes <= GFC_GREETING_MAX);
  post(&s->mail, &reply);
  if (verdict != GFC_ADMIT)
    return;
  exchange *found = NULL;
  for (unsigned n = 0; n < s->count; n++)
    if (equal(&s->exchanges[n].proof, &heard))
      found = &s->exchanges[n];
  REQUIRE(rank == CONNECTS && found != NULL && found->welcome.bytes == 0);
  REQUIRE(got.key == &s->far.current);
  found->welcome = reply;
}

/* Is it the answer to the proof of this attempt? */
static bool welcomes(const scene *s, const gfc_reply *heard) {
  for (unsigned n = 0; n < s->count; n++)
    if (s->exchanges[n].attempt == s->attempts && equal(&s->exchanges[n].welcome, heard))
      return true;
  return false;
}

static void to_connector(scene *s, input *in) {
  char reason[GFSMITH_REASON_MAX];
  gfc_reply heard = choose(&s->mail, in), reply = {.bytes = 0};
  gfc_heard data = {heard.data, heard.bytes};
  if (gfc_handshake_welcomed(&s->near, &s->attempt, &data)) {
    REQUIRE(welcomes(s, &heard));
    REQUIRE(!planted() || s->attempts == 1);
    return;
  }
  if (gfc_handshake_prove(&s->near, &s->attempt, &data, "refused", &reply, reason) != GFSMITH_OK) {
    REQUIRE(strnlen(reason, sizeof reason) < sizeof reason);
    return;
  }
  post(&s->mail, &reply);
  s->exchanges[s->count++] = (exchange){.proof = reply, .attempt = s->attempts};
}

static void fuzz_greetings(input *in) {
  static scene s;
  static const gfsmith_node_options near = {.rank = CONNECTS,
                                            .key = (const uint8_t *)"a key of these two nodes",
                                            .key_bytes = 24,
                                            .connect_ms = WAIT_MS};
  gfsmith_node_options far = near;
  far.rank = LISTENS;
  memset(&s, 0, sizeof s);
  gfc_handshake_open(&s.near, &near);
  gfc_handshake_open(&s.far, &far);
  ask(&s);
  for (unsigned n = 0; n < STEPS && in->left > 0; n++) {
    unsigned what = take_below(in, 8);
    if (what == 0)
      ask(&s);
    else if (what == 1)
      now_ms += take_below(in, 2 * WAIT_MS);
    else if (what < 5)
      to_listener(&s, in);
    else
      to_connector(&s, in);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, size};
  now_ms = 1;
  drawn = 0;
  if (randombytes_set_implementation(&source) != 0 || !gfc_handshake_init())
    abort();
  switch (take_below(&in, 8)) {
  case 0:
    fuzz_frame(&in);
    break;
  case 1:
    fuzz_bodies(in.at, in.left < GFSMITH_MESSAGE_MAX ? in.left : GFSMITH_MESSAGE_MAX);
    break;
  case 2:
    fuzz_trailer(&in);
    break;
  default:
    fuzz_greetings(&in);
  }
  return 0;
}
