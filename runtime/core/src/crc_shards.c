#include "crc_shards.h"

#include <string.h>

#include "stream.h"

gfsmith_status gfs_crc_shards_begin(gfs_crc_shards *shards, gfsmith_checksum kind, size_t len,
                                    size_t count, const uint64_t *states) {
  const gfs_crc *crc = gfs_crc_of(kind);
  if (crc == NULL || (len > 0 && states == NULL))
    return GFSMITH_EINVAL;
  if (kind == GFSMITH_CRC16_T10 && len % GFS_T10_SECTOR != 0)
    return GFSMITH_EINVAL;
  for (size_t n = 0; len > 0 && n < count; n++)
    if (!gfs_crc_is_checksum(crc, states[n]))
      return GFSMITH_EINVAL;
  shards->crc = crc;
  shards->set = gfs_crc_set_now();
  shards->len = len;
  shards->folded = shards->set->block != 0 && len >= GFS_CRC_FOLDED_MIN;
  return GFSMITH_OK;
}

void gfs_crc_shards_number(gfs_crc_shards *shards, unsigned first, unsigned count,
                           const uint8_t *index, uint64_t *states) {
  shards->stepped = 0; /* another stripe of a batch may have taken another way */
  for (unsigned n = 0; n < count; n++)
    shards->state[first + n] = &states[index != NULL ? index[n] : first + n];
}

/* The function by which a register takes the crc32 instruction's way; NULL: there is none. */
static gfs_crc_steps *steps_of(const gfs_crc_shards *shards) {
  return shards->set->steps[shards->crc->instruction];
}

gfs_crc_encode *gfs_crc_shards_encode(gfs_crc_shards *shards, unsigned inputs, unsigned outputs) {
  if (!shards->folded || shards->crc->order != GFS_CRC_REFLECTED || outputs > GFS_CRC_ENCODED_MAX)
    return NULL;
  gfs_crc_encode *words = shards->set->encode_words[outputs - 1];
  if (words == NULL || steps_of(shards) == NULL)
    return shards->set->encode[outputs - 1];
  shards->stepped = inputs / GFS_CRC_ENCODED_GROUP * GFS_CRC_ENCODED_GROUP;
  return words;
}

static bool is_stepped(const gfs_crc_shards *shards, unsigned shard) {
  return shard < shards->stepped && gfs_crc_encode_steps(shard);
}

static void fold_row(gfs_crc_shards *shards, const gfs_crc_row *row, size_t lines) {
  const gfs_crc *crc = shards->crc;
  uint8_t *messages = shards->message[row->first];
  if (row->copy != NULL)
    shards->set->fold_copy[crc->order](crc, messages, row->count, lines, row->data, row->copy);
  else
    shards->set->fold_line[crc->order](crc, messages, row->count, lines, row->data, row->ahead);
}

/* Replace the messages of shards that have registers by those after the first piece. */
static void step_first(gfs_crc_shards *shards, const gfs_crc_row *row) {
  for (unsigned n = 0; n < row->count; n++) {
    unsigned shard = row->first + n;
    if (!is_stepped(shards, shard))
      continue;
    uint64_t state = gfs_crc_to_register(shards->crc, *shards->state[shard]);
    state = steps_of(shards)(state, row->len, row->data[n]);
    memcpy(shards->message[shard], &state, sizeof state);
  }
}

/* Fold the first piece of every shard. The first line becomes the message, and the state is added
 * to that. */
static void fold_first(gfs_crc_shards *shards, const gfs_crc_row *row, size_t lines) {
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *copy[GFSMITH_MAX_SHARDS];
  gfs_crc_row rest = *row;
  rest.data = data;
  rest.copy = row->copy != NULL ? copy : NULL;
  for (unsigned n = 0; n < row->count; n++) {
    unsigned shard = row->first + n;
    uint64_t state = gfs_crc_to_register(shards->crc, *shards->state[shard]);
    memcpy(shards->message[shard], row->data[n], GFS_CRC_LINE);
    gfs_crc_start(shards->crc, state, row->data[n], shards->message[shard]);
    data[n] = row->data[n] + GFS_CRC_LINE;
    if (row->copy != NULL) {
      gfs_stream_copy(row->copy[n], row->data[n], GFS_CRC_LINE);
      copy[n] = row->copy[n] + GFS_CRC_LINE;
    }
  }
  if (lines > 1)
    fold_row(shards, &rest, lines - 1);
  step_first(shards, row);
}

/* The register after a message, which is overwritten, and a tail of less than a line, which becomes
 * the end of a whole line by zeros before the message. */
static uint64_t last_register(const gfs_crc_shards *shards, uint8_t *message, size_t tail,
                              const uint8_t *data) {
  const gfs_crc_set *set = shards->set;
  const gfs_crc *crc = shards->crc;
  alignas(GFS_CRC_LINE) uint8_t lines[2 * GFS_CRC_LINE];
  if (tail > 0) {
    const uint8_t *second = lines + GFS_CRC_LINE;
    memset(lines, 0, GFS_CRC_LINE - tail);
    memcpy(lines + GFS_CRC_LINE - tail, message, GFS_CRC_LINE);
    memcpy(lines + 2 * GFS_CRC_LINE - tail, data, tail);
    set->fold_line[crc->order](crc, lines, 1, 1, &second, 0);
    message = lines;
  }
  return set->reduce_lines[crc->order](crc, 0, 0, message);
}

static void finish_row(gfs_crc_shards *shards, const gfs_crc_row *row) {
  size_t tail = row->len % GFS_CRC_LINE;
  for (unsigned n = 0; n < row->count; n++) {
    unsigned shard = row->first + n;
    uint8_t *message = shards->message[shard];
    const uint8_t *data = row->data[n] + row->len - tail;
    uint64_t state = is_stepped(shards, shard)
                         ? steps_of(shards)(gfs_crc_word_reflected(message), tail, data)
                         : last_register(shards, message, tail, data);
    *shards->state[shard] = gfs_crc_from_register(shards->crc, state);
  }
}

static void update_row(const gfs_crc_shards *shards, unsigned first, unsigned count, size_t len,
                       const uint8_t *const *data) {
  for (unsigned n = 0; n < count; n++) {
    uint64_t *state = shards->state[first + n];
    *state = gfs_crc_updated(shards->crc, shards->set, *state, len, data[n]);
  }
}

void gfs_crc_shards_update(const gfs_crc_shards *shards, unsigned first, unsigned count,
                           const uint8_t *const *data) {
  update_row(shards, first, count, shards->len, data);
}

void gfs_crc_shards_add(gfs_crc_shards *shards, const gfs_crc_row *row) {
  if (!shards->folded) {
    update_row(shards, row->first, row->count, row->len, row->data);
    return;
  }
  size_t lines = row->len / GFS_CRC_LINE;
  if (row->start == 0)
    fold_first(shards, row, lines);
  else if (lines > 0)
    fold_row(shards, row, lines);
  if (row->start + row->len == shards->len)
    finish_row(shards, row);
}
