/** @file
 * Repair plans: the shards that a repair reads and the coefficients that it applies, computed
 * before any shard is accessed.
 *
 * A plan expresses lost shards by present ones, byte by byte in GF(2^8):
 *
 *     target[t] = sum over n of matrix[t][n] * read[n].
 *
 * A plan depends on the code and on the lost shards, not on lengths or contents. It is independent
 * of its codec and never changes; any number of threads may run it, each on its own shards.
 * gfsmith_reconstruct creates or reuses such a plan and runs it.
 *
 * A plan reads as few shards as possible. Among such plans it has the fewest non-zero coefficients,
 * and among those it avoids the last shards. If the named code is MDS, every repair reads k shards,
 * and the plan reads the first k that are present. For other codes the planner searches. The search
 * is complete for codes up to some 20 shards and for larger ones that read little. If it would take
 * more than about 2^18 products in the field, the plan is the best one found, which reads no more
 * than the one that takes the parities with the fewest coefficients first; so a local code repairs
 * locally in any case. A lower bound may still prove such a plan minimal. gfsmith_plan_is_least
 * returns whether minimality is proved. See docs/repair.md.
 */
#ifndef GFSMITH_PLAN_H
#define GFSMITH_PLAN_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The expression of certain lost shards of a code by certain present ones. */
typedef struct gfsmith_plan gfsmith_plan;

/** Compute the plan that rebuilds missing shards.
 *
 * A plan may have no targets; running it then does nothing. It takes over the codec's current hint
 * and packet layout.
 *
 * @param out where the plan goes; on failure *out = NULL
 * @param codec the code
 * @param present k + m flags, whether shard i is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one; wanting a
 *     shard that is present does nothing
 * @return GFSMITH_EINVAL (out, codec or present NULL), GFSMITH_ETOOMANY (more than m shards
 *     missing, wanted or not), GFSMITH_ESINGULAR (the present shards do not determine a wanted
 *     shard; see gfsmith_determined), GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (the build lacks the
 *     kernels; not so with the default set) */
GFSMITH_API gfsmith_status gfsmith_plan_create(gfsmith_plan **out, const gfsmith_codec *codec,
                                               const bool *present, const bool *wanted);

/** The shards that the plan reads.
 *
 * @param plan the plan, or NULL
 * @param count their number, written; may be NULL
 * @return *count indices, ascending (data j is j, parity i is k + i), valid as long as the plan.
 *     NULL plan: NULL and *count = 0 */
GFSMITH_API const uint8_t *gfsmith_plan_reads(const gfsmith_plan *plan, unsigned *count);

/** The shards that the plan rebuilds.
 *
 * @param plan the plan, or NULL
 * @param count their number, written; may be NULL
 * @return as gfsmith_plan_reads */
GFSMITH_API const uint8_t *gfsmith_plan_targets(const gfsmith_plan *plan, unsigned *count);

/** The matrix of the plan: one row for each target, one column for each shard that is read.
 *
 * @param plan the plan, or NULL
 * @return the elements, row-major, valid as long as the plan. NULL plan: NULL */
GFSMITH_API const uint8_t *gfsmith_plan_matrix(const gfsmith_plan *plan);

/** Is it proved that every repair of these targets reads at least as many shards?
 * @param plan the plan, or NULL
 * @return true if it is proved; NULL plan: false */
GFSMITH_API bool gfsmith_plan_is_least(const gfsmith_plan *plan);

/** Rebuild the targets.
 *
 * It allocates nothing; its time depends on len and the plan only, not on contents.
 *
 * @param plan the plan
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each; only those of read shards and targets are used,
 *     all others may be NULL
 * @return GFSMITH_EINVAL (plan NULL; with len > 0, shards or a pointer to a shard that is read or
 *     rebuilt NULL; in packet layout, a length that is not a multiple of 8 packets) */
GFSMITH_API gfsmith_status gfsmith_plan_run(const gfsmith_plan *plan, size_t len,
                                            uint8_t *const *shards);

/** Free a plan.
 *
 * @param plan may be NULL, and nothing is done */
GFSMITH_API void gfsmith_plan_destroy(gfsmith_plan *plan);

/** Which shards do the present ones determine? The answer is exact, for any matrix and any number
 * of missing shards. A loss can be repaired if and only if all shards are determined.
 *
 * It allocates less than 128 KiB, which it frees before it returns.
 *
 * @param codec the code
 * @param present k + m flags, whether shard i is intact
 * @param determined k + m flags, written: whether shard i is present or a combination of present
 *     shards
 * @return GFSMITH_EINVAL (a NULL argument), GFSMITH_ENOMEM; nothing is written then */
GFSMITH_API gfsmith_status gfsmith_determined(const gfsmith_codec *codec, const bool *present,
                                              bool *determined);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_PLAN_H */
