/* Control messages and trailers: reading any bytes of any length up to a limit, writing any value.
 */
#include "wire.h"
#include "../driver.h"

static void read(size_t bytes) {
  uint8_t *body = block(bytes);
  gfc_grant grant;
  gfc_refusal refusal;
  gfc_receipt receipt;
  gfc_get_grant(&grant, body, bytes);
  gfc_get_receipt(&receipt, body, bytes);
  if (gfc_get_refusal(&refusal, body, bytes)) {
    /*@ assert text: valid_read_string((char *)refusal.reason); */
    /*@ assert edge: refusal.edge < GFSMITH_EDGES_MAX; */
    /*@ assert blame: -1 <= refusal.blame < GFSMITH_RANKS_MAX; */
  }
  free(body);
}

static void write(void) {
  gfc_grant grant;
  gfc_refusal refusal;
  gfc_receipt receipt;
  uint8_t grant_body[GFC_GRANT_BYTES], receipt_body[GFC_RECEIPT_BYTES];
  uint8_t refusal_body[GFC_REFUSAL_MAX];
  UNKNOWN(grant);
  UNKNOWN(receipt);
  size_t bytes = gfc_put_grant(grant_body, &grant);
  /*@ assert grant: bytes == GFC_GRANT_BYTES; */
  bytes = gfc_put_receipt(receipt_body, &receipt);
  /*@ assert receipt: bytes == GFC_RECEIPT_BYTES; */
  static const unsigned lengths[] = {0, 1, 2, 100, GFSMITH_REASON_MAX - 2, GFSMITH_REASON_MAX - 1};
  for (unsigned l = 0; l < NUMBER_OF(lengths); l++) {
    unsigned words = lengths[l];
    UNKNOWN(refusal);
    refusal.granted = any();
    refusal.known = any();
    for (unsigned n = 0; n < words; n++)
      refusal.reason[n] = (char)Frama_C_interval(1, 127);
    refusal.reason[words] = 0;
    bytes = gfc_put_refusal(refusal_body, &refusal);
    /*@ assert refusal: bytes <= GFC_REFUSAL_MAX; */
  }
}

static void trailer(size_t bytes) {
  uint8_t *payload = block(bytes), mark[GFC_TRAILER_BYTES];
  UNKNOWN(mark);
  gfc_trailer_check(mark, (uint64_t)Frama_C_unsigned_int_interval(0, UINT32_MAX), 7, payload,
                    bytes);
  gfc_trailer_head(mark, 5, Frama_C_unsigned_int_interval(0, UINT32_MAX), bytes);
  gfc_checksum *sum = gfc_checksum_create();
  if (sum != NULL) {
    gfc_checksum_begin(sum, mark);
    gfc_checksum_add(sum, payload, bytes);
    gfc_checksum_end(sum, mark);
    gfc_checksum_free(sum);
  }
  free(payload);
}

int main(void) {
  static const size_t longer[] = {100, GFC_REFUSAL_MAX - 2, GFC_REFUSAL_MAX - 1, GFC_REFUSAL_MAX,
                                  GFC_REFUSAL_MAX + 1};
  for (size_t bytes = 0; bytes <= GFC_GRANT_BYTES + 1; bytes++)
    read(bytes);
  for (unsigned n = 0; n < NUMBER_OF(longer); n++)
    read(longer[n]);
  write();
  for (size_t bytes = 0; bytes <= 64; bytes++)
    trailer(bytes);
  return 0;
}
