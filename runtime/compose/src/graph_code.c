/* What a codec computes, found out through its public interface: a codec does not tell its shape or
 * matrix. */
#include "graph.h"

#include <string.h>

#define UNTOUCHED 0xa5u

uint8_t gfc_multiply(unsigned polynomial, uint8_t a, uint8_t b) {
  unsigned product = 0;
  for (unsigned bit = 0x80; bit; bit >>= 1) {
    product <<= 1;
    if (product & 0x100u)
      product ^= polynomial;
    if (b & bit)
      product ^= a;
  }
  return (uint8_t)product;
}

/* Shards of one byte; as many as a codec may have, so that one of another shape than was said does
 * no harm. */
typedef struct gfc_probe {
  uint8_t zero, one;
  uint8_t out[GFSMITH_MAX_SHARDS];
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *parity[GFSMITH_MAX_SHARDS];
} gfc_probe;

/* Encode data that are 0 but for shard j. */
static gfsmith_status encode(const gfsmith_codec *codec, gfc_probe *probe, unsigned j,
                             uint8_t value) {
  memset(probe->out, UNTOUCHED, sizeof probe->out);
  probe->one = value;
  probe->data[j] = &probe->one;
  gfsmith_status status = gfsmith_encode(codec, 1, probe->data, probe->parity);
  probe->data[j] = &probe->zero;
  return status;
}

/* Has the codec k data and m parity shards? Of data 0 all parities are 0, and an update of shard k
 * is refused. */
static bool shaped(const gfsmith_codec *codec, gfc_probe *probe, unsigned k, unsigned m) {
  if (encode(codec, probe, 0, 0) != GFSMITH_OK)
    return false;
  for (unsigned i = 0; i < GFSMITH_MAX_SHARDS; i++)
    if ((probe->out[i] == 0) != (i < m))
      return false;
  return gfsmith_update(codec, 1, k, &probe->zero, probe->parity) == GFSMITH_EINVAL &&
         gfsmith_update(codec, 1, k - 1, &probe->zero, probe->parity) != GFSMITH_EINVAL;
}

static int refuse_shape(const gfsmith_codec *codec, unsigned k, unsigned m, gfc_probe *probe,
                        char *reason) {
  if (encode(codec, probe, 0, 0) == GFSMITH_EINVAL)
    return gfc_graph_fail(reason, GFSMITH_EUNSUPPORTED,
                          "the codec is in packet layout, which graphs do not know");
  return gfc_graph_fail(reason, GFSMITH_EINVAL,
                        "the codec is not one of k = %u data and m = %u parities", k, m);
}

int gfc_graph_code(const gfsmith_codec *codec, unsigned polynomial, unsigned k, unsigned m,
                   uint8_t *parity, char *reason) {
  gfc_probe probe = {0};
  for (unsigned n = 0; n < GFSMITH_MAX_SHARDS; n++) {
    probe.data[n] = &probe.zero;
    probe.parity[n] = probe.out + n;
  }
  if (!shaped(codec, &probe, k, m))
    return refuse_shape(codec, k, m, &probe, reason);
  for (unsigned j = 0; j < k; j++) {
    gfsmith_status status = encode(codec, &probe, j, 1);
    if (status != GFSMITH_OK)
      return gfc_graph_fail(reason, status, "%s", gfsmith_strerror(status));
    for (unsigned i = 0; i < m; i++)
      parity[i * k + j] = probe.out[i];
    /* That another field gives the same for c * 2^7 means a * p + r = b * q + r for its polynomial
     * q, so the irreducible q divides a, whose degree is at most 6: a = 0, and c is 0 or 1, as in
     * all fields. */
    status = encode(codec, &probe, j, 0x80);
    for (unsigned i = 0; i < m && status == GFSMITH_OK; i++)
      if (probe.out[i] != gfc_multiply(polynomial, 0x80, parity[i * k + j]))
        return gfc_graph_fail(reason, GFSMITH_EINVAL,
                              "polynomial 0x%x is not that of the codec's field", polynomial);
  }
  return GFSMITH_OK;
}
