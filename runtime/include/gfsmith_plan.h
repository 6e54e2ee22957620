/** @file
 * What a repair reads and computes, before any shard is touched.
 *
 * A plan says how lost shards follow from present ones, byte by byte in GF(2^8):
 *
 *     target[t] = sum over n of matrix[t][n] * read[n].
 *
 * It depends on the code and on which shards are lost, not on lengths or contents. Once created it
 * is a value of its own: it needs its codec no longer, never changes, and any number of threads may
 * run it, each on its own shards. gfsmith_reconstruct creates a plan, or finds one that it kept,
 * and runs it; there is no other way to repair.
 *
 * A plan reads as few shards as possible; of equals, one whose matrix has the fewest non-zero
 * coefficients, and of those one that leaves the last shards alone. Where the named code is MDS,
 * any repair of anything takes k shards, and the plan takes the first k that are present. Elsewhere
 * the ways to repair are searched, which is complete for codes up to some 20 shards and for larger
 * ones that read little. Where it would take more than about 2^18 products in the field the plan is
 * the best that was met, at worst that which takes the lightest parities first, so that a local
 * code repairs locally in any case; a bound may then still prove that it reads the fewest, and
 * gfsmith_plan_is_least says whether that is proved. docs/repair.md.
 */
#ifndef GFSMITH_PLAN_H
#define GFSMITH_PLAN_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How certain lost shards of a code follow from certain present ones. */
typedef struct gfsmith_plan gfsmith_plan;

/** Work out how missing shards are rebuilt.
 *
 * A plan may have no targets; running it then does nothing. It takes over the codec's hint and
 * packet layout as they are now.
 *
 * @param out where the plan goes; on failure *out = NULL
 * @param codec the code
 * @param present k + m flags, whether shard i is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one; wanting a
 *     shard that is present does nothing
 * @return GFSMITH_EINVAL (out, codec or present NULL), GFSMITH_ETOOMANY (more than m shards
 * missing, wanted or not), GFSMITH_ESINGULAR (a wanted shard is not determined by what is present;
 * see gfsmith_determined), GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (no kernels for it; not so with the
 *     default set) */
GFSMITH_API gfsmith_status gfsmith_plan_create(gfsmith_plan **out, const gfsmith_codec *codec,
                                               const bool *present, const bool *wanted);

/** The shards that the plan reads.
 *
 * @param plan the plan, or NULL
 * @param count how many they are, written; may be NULL
 * @return *count indices, ascending (data j is j, parity i is k + i), valid as long as the plan.
 *     NULL plan: NULL and *count = 0 */
GFSMITH_API const uint8_t *gfsmith_plan_reads(const gfsmith_plan *plan, unsigned *count);

/** The shards that the plan rebuilds.
 *
 * @param plan the plan, or NULL
 * @param count how many they are, written; may be NULL
 * @return as gfsmith_plan_reads */
GFSMITH_API const uint8_t *gfsmith_plan_targets(const gfsmith_plan *plan, unsigned *count);

/** The matrix of the plan: a row for each target, of an element for each shard that is read.
 *
 * @param plan the plan, or NULL
 * @return the elements, row-major, valid as long as the plan. NULL plan: NULL */
GFSMITH_API const uint8_t *gfsmith_plan_matrix(const gfsmith_plan *plan);

/** Is it proved that no repair of these targets reads fewer shards?
 *
 * @param plan the plan, or NULL
 * @return whether it is; NULL plan: false */
GFSMITH_API bool gfsmith_plan_is_least(const gfsmith_plan *plan);

/** Rebuild the targets.
 *
 * It allocates nothing; its time depends on len and the plan only, not on contents.
 *
 * @param plan what to do
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each; those read and the targets are looked at, all
 *     others may be NULL
 * @return GFSMITH_EINVAL (plan NULL; with len > 0, shards or a pointer to a shard that is read or
 *     rebuilt NULL; in packet layout, a length that is not a multiple of 8 packets) */
GFSMITH_API gfsmith_status gfsmith_plan_run(const gfsmith_plan *plan, size_t len,
                                            uint8_t *const *shards);

/** Free a plan.
 *
 * @param plan may be NULL, and nothing is done */
GFSMITH_API void gfsmith_plan_destroy(gfsmith_plan *plan);

/** Which shards do the present ones determine? Decided exactly, for any matrix and any number of
 * missing shards. A loss can be repaired if and only if all are.
 *
 * It allocates less than 128 KiB for the time of the call.
 *
 * @param codec the code
 * @param present k + m flags, whether shard i is intact
 * @param determined k + m flags, written: is shard i present, or a combination of present shards?
 * @return GFSMITH_EINVAL (a NULL argument), GFSMITH_ENOMEM; nothing is written then */
GFSMITH_API gfsmith_status gfsmith_determined(const gfsmith_codec *codec, const bool *present,
                                              bool *determined);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_PLAN_H */
