#include "packets.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "baked.h"
#include "sizes.h"
#include "tables.h"

enum {
  PACKETS_MAX = GFS_PACKETS * GFSMITH_MAX_SHARDS,
  WORD_BITS = 64,
  WORDS_MAX = (PACKETS_MAX + WORD_BITS - 1) / WORD_BITS
};

/* Bytes of all packets that are processed at a time: they should stay in a first-level cache during
 * all steps. */
#define PACKETS_CACHE_BUDGET (24u * 1024)

/* A row of a bit matrix, bit j of which is column j. */
typedef struct bits {
  uint64_t word[WORDS_MAX];
} bits;

static unsigned ones(uint64_t word) {
  unsigned count = 0;
  for (; word != 0; word &= word - 1)
    count++;
  return count;
}

/* The number of columns below `columns` in which two rows differ. */
static unsigned distance(const bits *a, const bits *b, unsigned columns) {
  unsigned count = 0;
  for (unsigned n = 0; n * WORD_BITS < columns; n++)
    count += ones(a->word[n] ^ b->word[n]);
  return count;
}

static bool has_bit(const bits *row, unsigned column) {
  return row->word[column / WORD_BITS] >> column % WORD_BITS & 1;
}

/* The bit matrix with one byte per bit, for comparison with known matrices. */
static void expand(const gfs_field *field, unsigned inputs, unsigned outputs, const uint8_t *matrix,
                   uint8_t *rows) {
  for (unsigned i = 0; i < outputs * GFS_PACKETS; i++)
    for (unsigned j = 0; j < inputs * GFS_PACKETS; j++) {
      uint8_t element = matrix[(size_t)(i / GFS_PACKETS) * inputs + j / GFS_PACKETS];
      uint8_t column = gfs_field_mul(field, element, (uint8_t)(1u << j % GFS_PACKETS));
      *rows++ = column >> i % GFS_PACKETS & 1;
    }
}

static void pack(const uint8_t *row, unsigned columns, bits *out) {
  memset(out, 0, sizeof *out);
  for (unsigned j = 0; j < columns; j++)
    out->word[j / WORD_BITS] |= (uint64_t)row[j] << j % WORD_BITS;
}

/* A schedule under construction. */
typedef struct draft {
  const gfs_isa *isa;
  gfs_schedule *schedule;
  const bits *rows;
  size_t used; /* of schedule->source */
} draft;

/* Append the step of one row: the sum of its packets, or an earlier output plus the packets in
 * which they differ if those are fewer, as Jerasure's jerasure_smart_bitmatrix_to_schedule. False:
 * there is no kernel. */
static bool add_row(draft *d, unsigned row) {
  static const bits zero;
  gfs_schedule *s = d->schedule;
  const bits *from = &zero;
  unsigned least = distance(&zero, &d->rows[row], s->inputs);
  gfs_step *step = &s->step[s->steps++];
  *step = (gfs_step){.offset = d->used, .first = row, .outputs = 1};
  for (unsigned earlier = 0; earlier < row; earlier++) {
    unsigned differing = 1 + distance(&d->rows[earlier], &d->rows[row], s->inputs);
    if (differing < least) {
      least = differing;
      from = &d->rows[earlier];
    }
  }
  if (from != &zero)
    s->source[d->used++] = (uint16_t)(s->inputs + (unsigned)(from - d->rows));
  for (unsigned j = 0; j < s->inputs; j++)
    if (has_bit(from, j) != has_bit(&d->rows[row], j))
      s->source[d->used++] = (uint16_t)j;
  step->sources = (unsigned)(d->used - step->offset);
  if (step->sources == 0)
    return true;
  step->kernel = gfs_dispatch_kernel(d->isa, GFS_OPERATION_xor, step->sources, 1, GFS_PATH_cached);
  return step->kernel != NULL;
}

/* Append all steps: at each row the longest known matrix if there is one, else the row alone. */
static bool write_steps(draft *d, const gfs_field *field, const uint8_t *rows) {
  gfs_schedule *s = d->schedule;
  for (unsigned row = 0; row < s->outputs;) {
    const uint8_t *at = rows + (size_t)row * s->inputs;
    const gfs_known_matrix *known = gfs_baked_find(d->isa, field, s->inputs, s->outputs - row, at);
    if (known == NULL) {
      if (!add_row(d, row++))
        return false;
      continue;
    }
    gfsmith_kernel *kernel = gfs_baked_kernel(d->isa, known, GFS_PATH_cached);
    s->step[s->steps++] = (gfs_step){.kernel = kernel, .first = row, .outputs = known->outputs};
    row += known->outputs;
  }
  return true;
}

/* Copy the draft into one block of memory. NULL: out of memory. */
static gfs_schedule *bound(const draft *d) {
  size_t header = sizeof(gfs_schedule) + d->schedule->steps * sizeof(gfs_step);
  size_t bytes = header + d->used * sizeof(uint16_t);
  gfs_schedule *s = malloc(bytes);
  if (s == NULL)
    return NULL;
  memcpy(s, d->schedule, header);
  s->bytes = bytes;
  s->source = (uint16_t *)(s->step + s->steps);
  memcpy(s->source, d->schedule->source, d->used * sizeof(uint16_t));
  return s;
}

gfsmith_status gfs_schedule_create(gfs_schedule **out, const gfs_isa *isa, const gfs_field *field,
                                   unsigned inputs, unsigned outputs, const uint8_t *matrix) {
  unsigned columns = inputs * GFS_PACKETS, rows = outputs * GFS_PACKETS;
  uint8_t *expanded = malloc((size_t)rows * columns);
  bits *packed = malloc(rows * sizeof *packed);
  gfs_schedule *steps = malloc(sizeof *steps + rows * sizeof *steps->step);
  uint16_t *source = malloc((size_t)rows * columns * sizeof *source);
  gfsmith_status status = GFSMITH_ENOMEM;
  if (expanded != NULL && packed != NULL && steps != NULL && source != NULL) {
    *steps = (gfs_schedule){.source = source, .inputs = columns, .outputs = rows};
    expand(field, inputs, outputs, matrix, expanded);
    for (unsigned row = 0; row < rows; row++)
      pack(expanded + (size_t)row * columns, columns, &packed[row]);
    draft d = {.isa = isa, .schedule = steps, .rows = packed};
    status = write_steps(&d, field, expanded) ? GFSMITH_OK : GFSMITH_EUNSUPPORTED;
    if (status == GFSMITH_OK && (*out = bound(&d)) == NULL)
      status = GFSMITH_ENOMEM;
  }
  free(expanded);
  free(packed);
  free(steps);
  free(source);
  return status;
}

/* Run all steps on len bytes of every packet: at[0 .. inputs) are read, the following outputs
 * written. */
static void run(const gfs_schedule *s, size_t len, uint8_t *const *at) {
  const uint8_t *chosen[PACKETS_MAX];
  for (const gfs_step *step = s->step; step != s->step + s->steps; step++) {
    uint8_t *const *dst = at + s->inputs + step->first;
    if (step->kernel == NULL) {
      memset(*dst, 0, len);
    } else if (step->sources == 0) {
      step->kernel(len, s->inputs, NULL, (const uint8_t *const *)at, dst);
    } else {
      for (unsigned n = 0; n < step->sources; n++)
        chosen[n] = at[s->source[step->offset + n]];
      step->kernel(len, step->sources, NULL, chosen, dst);
    }
  }
}

/* Packet n of some shards, from byte `start` of its region on. */
static uint8_t *packet_at(const uint8_t *const *shards, unsigned n, size_t start, size_t packet) {
  return (uint8_t *)shards[n / GFS_PACKETS] + start + n % GFS_PACKETS * packet;
}

static void point(uint8_t **at, unsigned packets, const uint8_t *const *shards, size_t start,
                  size_t packet) {
  for (unsigned n = 0; n < packets; n++)
    at[n] = packet_at(shards, n, start, packet);
}

/* The bytes of each of `packets` packets to process at a time: whole lines if there are few
 * packets. */
static size_t chunk_of(size_t budget, unsigned packets) {
  size_t chunk = budget / packets;
  return chunk < GFS_CACHE_LINE ? chunk : chunk / GFS_CACHE_LINE * GFS_CACHE_LINE;
}

void gfs_schedule_apply(const gfs_schedule *s, size_t packet, size_t len, const uint8_t *const *src,
                        uint8_t *const *dst) {
  uint8_t *at[PACKETS_MAX];
  size_t chunk = s->steps == 1 ? packet : chunk_of(PACKETS_CACHE_BUDGET, s->inputs + s->outputs);
  for (size_t region = 0; region < len; region += GFS_PACKETS * packet)
    for (size_t start = 0; start < packet; start += chunk) {
      point(at, s->inputs, src, region + start, packet);
      point(at + s->inputs, s->outputs, (const uint8_t *const *)dst, region + start, packet);
      run(s, gfs_least(packet - start, chunk), at);
    }
}

bool gfs_schedule_matches(const gfs_schedule *s, size_t packet, size_t len,
                          const uint8_t *const *src, const uint8_t *const *dst) {
  alignas(GFS_CACHE_LINE) uint8_t computed[GFS_CHECK_BYTES];
  uint8_t *at[PACKETS_MAX];
  size_t chunk = chunk_of(GFS_CHECK_BYTES, s->outputs);
  for (unsigned i = 0; i < s->outputs; i++)
    at[s->inputs + i] = computed + i * chunk;
  for (size_t region = 0; region < len; region += GFS_PACKETS * packet)
    for (size_t start = 0; start < packet; start += chunk) {
      size_t piece = gfs_least(packet - start, chunk);
      point(at, s->inputs, src, region + start, packet);
      run(s, piece, at);
      for (unsigned i = 0; i < s->outputs; i++)
        if (memcmp(computed + i * chunk, packet_at(dst, i, region + start, packet), piece) != 0)
          return false;
    }
  return true;
}

gfsmith_status gfs_packets_create(gfs_packets **out, const gfs_isa *isa, const gfs_field *field,
                                  unsigned k, unsigned m, const uint8_t *matrix, size_t packet) {
  gfs_packets *packets = malloc(sizeof *packets);
  if (packets == NULL)
    return GFSMITH_ENOMEM;
  *packets = (gfs_packets){.packet = packet};
  gfsmith_status status = gfs_schedule_create(&packets->encoder, isa, field, k, m, matrix);
  if (status != GFSMITH_OK) {
    free(packets);
    return status;
  }
  /* 0 inputs: only a kernel for any number of inputs. */
  packets->add = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 0, 1, GFS_PATH_cached);
  for (unsigned n = 0; n < GFS_PACKETS; n++)
    gfs_tables_fill(isa->format, field, 1, packets->one + n * gfs_tables_entry(isa->format));
  *out = packets;
  return GFSMITH_OK;
}

void gfs_packets_free(gfs_packets *packets) {
  if (packets == NULL)
    return;
  free(packets->encoder);
  free(packets);
}

void gfs_packets_accumulate(const gfs_packets *packets, const gfs_field *field, size_t len,
                            uint8_t element, const uint8_t *src, uint8_t *dst) {
  size_t packet = packets->packet;
  for (unsigned bit = 0; bit < GFS_PACKETS; bit++)
    for (size_t region = 0; region < len; region += GFS_PACKETS * packet) {
      const uint8_t *chosen[GFS_PACKETS];
      unsigned count = 0;
      for (unsigned x = 0; x < GFS_PACKETS; x++)
        if (gfs_field_mul(field, element, (uint8_t)(1u << x)) >> bit & 1)
          chosen[count++] = src + region + x * packet;
      uint8_t *to = dst + region + bit * packet;
      if (count > 0)
        packets->add(packet, count, packets->one, chosen, &to);
    }
}
