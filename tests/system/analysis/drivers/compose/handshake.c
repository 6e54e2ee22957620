/* The handshake of both sides: any bytes of any length up to a limit from the other side, in any
 * state. The greetings are analysed kind by kind, because the kind decides the length. */
#include <endian.h>
#include <string.h>

#include "../driver.h"
#include "handshake.h"

static void any_state(gfc_handshake *own, gfc_attempt *attempt) {
  UNKNOWN(*own);
  UNKNOWN(*attempt);
  attempt->challenged = any();
  own->current.bytes = Frama_C_unsigned_int_interval(0, GFSMITH_KEY_MAX);
  own->previous.bytes = Frama_C_unsigned_int_interval(0, GFSMITH_KEY_MAX);
  attempt->key.bytes = Frama_C_unsigned_int_interval(0, GFSMITH_KEY_MAX);
}

/* The first two bytes of a greeting are its kind; all numbers from KINDS on have no meaning. */
enum { KINDS = 6, KIND_BYTES = 2 };

static void set_kind(uint8_t *data, unsigned kind) {
  uint16_t number =
      htole16((uint16_t)(kind < KINDS ? kind : Frama_C_unsigned_int_interval(KINDS, UINT16_MAX)));
  memcpy(data, &number, KIND_BYTES);
}

static void hear(gfc_handshake *own, gfc_attempt *attempt, size_t bytes, unsigned kind) {
  uint8_t *data = block(bytes);
  gfc_heard heard = {data, bytes};
  if (bytes >= KIND_BYTES)
    set_kind(data, kind);
  gfc_reply reply;
  char reason[GFSMITH_REASON_MAX];
  uint16_t rank;
  gfc_admission admission;
  gfc_dialogue dialogue;
  any_state(own, attempt);
  gfc_handshake_prove(own, attempt, &heard, "refused", &reply, reason);
  gfc_handshake_welcomed(own, attempt, &heard);
  gfc_handshake_answer(own, (uint16_t)Frama_C_interval(0, UINT16_MAX), &heard, &dialogue, &reply);
  if (gfc_handshake_judge(own, &heard, &rank, &reply, &admission) != GFC_REJECT) {
    /*@ assert rank: \initialized(&rank) && rank < GFSMITH_RANKS_MAX; */
  }
  /*@ assert reply: reply.bytes <= GFC_GREETING_MAX; */
  free(data);
}

static void start(gfc_handshake *own, gfc_attempt *attempt) {
  uint8_t key[GFSMITH_KEY_MAX];
  gfsmith_node_options options = {.key = key};
  gfc_reply reply;
  UNKNOWN(key);
  options.rank = (uint16_t)Frama_C_interval(0, GFSMITH_RANKS_MAX - 1);
  options.key_bytes = Frama_C_unsigned_int_interval(GFSMITH_KEY_MIN, GFSMITH_KEY_MAX);
  options.connect_ms = Frama_C_unsigned_int_interval(0, UINT32_MAX);
  if (!gfc_handshake_init())
    return;
  gfc_handshake_open(own, &options);
  gfc_handshake_ask(own, attempt->peer, &attempt->dialogue, &reply);
  gfc_handshake_refuse_late(own, attempt->peer, &reply);
  gfc_handshake_close(own);
}

int main(void) {
  static gfc_handshake own;
  gfc_attempt attempt;
  for (size_t bytes = 0; bytes <= GFC_GREETING_MAX + 8; bytes++)
    for (unsigned kind = 0; kind <= KINDS; kind++)
      hear(&own, &attempt, bytes, kind);
  any_state(&own, &attempt);
  start(&own, &attempt);
  return 0;
}
