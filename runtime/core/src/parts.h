/* parts.h: the operations of a codec in two steps: the check of all arguments, and the work on any
 * part of the shards, which cannot fail. Serial calls perform both for whole shards; parallel calls
 * (parallel.c) check once and run the parts in several threads. The hint is a parameter because the
 * location of the shards depends on the whole call, not on the part. */
#ifndef GFS_PARTS_H
#define GFS_PARTS_H

#include "codec.h"
#include "crc_shards.h"
#include "plan.h"

/* Are the arguments of gfsmith_encode valid? codec != NULL, len > 0. Both functions are inline,
 * because with 64 bytes the calls would take a tenth of the time of an encoding. */
static inline bool gfs_encode_valid(const gfsmith_codec *codec, size_t len,
                                    const uint8_t *const *data, uint8_t *const *parity) {
  return gfs_all_given(data, codec->k) && gfs_all_given((const uint8_t *const *)parity, codec->m) &&
         gfs_length_valid(codec, len);
}
static inline void gfs_encode_part(const gfsmith_codec *codec, gfsmith_hint hint, size_t len,
                                   const uint8_t *const *data, uint8_t *const *parity) {
  if (codec->packets != NULL)
    gfs_schedule_apply(codec->packets->encoder, codec->packets->packet, len, data, parity);
  else
    gfs_map_apply(codec->encoder, hint, len, data, parity);
}

/* The same with the checksums of all shards, whose call has begun. */
void gfs_encode_checked(const gfsmith_codec *codec, gfsmith_hint hint, gfs_crc_shards *sums,
                        const uint8_t *const *data, uint8_t *const *parity, uint64_t *states);

/* Are the arguments of gfsmith_check valid? codec != NULL, len > 0. */
bool gfs_check_valid(const gfsmith_codec *codec, size_t len, const uint8_t *const *shards,
                     const bool *ok);
/* Do the parities match the data on this part? */
bool gfs_check_part(const gfsmith_codec *codec, gfsmith_hint hint, size_t len,
                    const uint8_t *const *shards);

/* Data shards, and the change of the parities that they cause. */
typedef struct gfs_change {
  const gfsmith_codec *codec;
  gfsmith_hint hint;
  unsigned count;
  const unsigned *index;         /* indices of these shards */
  const uint8_t *const *sources; /* their contents, or the differences of old and new contents */
  bool set;                      /* overwrite the parities instead of adding to them; count = 1 */
} gfs_change;

/* The status of gfsmith_update_many and gfsmith_append with these arguments; codec != NULL, len >
 * 0, count > 0. */
gfsmith_status gfs_change_check(const gfs_change *change, size_t len, uint8_t *const *parity);
void gfs_change_part(const gfs_change *change, size_t len, uint8_t *const *parity);

/* The plan of a call of gfsmith_reconstruct. */
typedef struct gfs_repair {
  const gfsmith_plan *plan; /* NULL: there is nothing to rebuild */
  gfsmith_plan *created;    /* NULL: the plan was cached */
} gfs_repair;

/* Check the arguments except the shards' pointers, and find or create the plan. Errors as
 * gfsmith_reconstruct. gfs_repair_end must follow if the status is GFSMITH_OK. */
gfsmith_status gfs_repair_begin(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                                const bool *present, const bool *wanted, gfs_repair *repair);

/* Cache or destroy a created plan. */
void gfs_repair_end(const gfsmith_codec *codec, const gfs_repair *repair);

#endif
