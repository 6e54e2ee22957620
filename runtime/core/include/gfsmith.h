/** @file
 * Erasure coding over GF(2^8) with generated, proved kernels: the codec.
 *
 * A codec turns k data shards into m parity shards of the same length. Bytes are elements of
 * GF(2^8) = GF(2)[x] / (p(x)), addition is XOR, and the parity matrix c has m rows of k elements:
 *
 *     parity[i][b] = sum over j < k of c[i][j] * data[j][b]     for every byte b < len, i < m.
 *
 * In shapes and indices a "shard" counts the k data shards first and the m parity shards after
 * them: shard j < k is data[j], shard k + i is parity[i].
 *
 * Lengths are in bytes; any length, any alignment, no padding. The library reads exactly len bytes
 * of an input shard and writes exactly len bytes of an output shard. Output shards must not overlap
 * input shards or each other.
 *
 * Errors: every function that can fail returns a gfsmith_status: GFSMITH_OK, or one of those named
 * with the function. A call that does not return GFSMITH_OK has written nothing to a shard (nor to
 * *ok of gfsmith_check).
 *
 * Empty shards: with len = 0 no array of shards is read, and every call with a codec that is not
 * NULL succeeds, except gfsmith_locate, which first checks whether the code can tell shards apart,
 * and gfsmith_reconstruct, which fails for the same losses as with any other length.
 *
 * Threads: every function may be called from any thread at any time. Any number of threads may use
 * a codec at once, each on its own shards. The functions that change a codec, gfsmith_codec_hint,
 * gfsmith_codec_packets and gfsmith_codec_adaptive (gfsmith_adaptive.h), must be called before the
 * codec is shared between threads, and gfsmith_codec_destroy after its last use.
 */
#ifndef GFSMITH_H
#define GFSMITH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @def GFSMITH_API
 * Marks exported functions. On Windows a program that uses the library as a DLL defines
 * GFSMITH_SHARED, and the build of the DLL itself defines GFSMITH_BUILD too.
 */
#if defined(_WIN32) && defined(GFSMITH_SHARED)
#if defined(GFSMITH_BUILD)
#define GFSMITH_API __declspec(dllexport)
#else
#define GFSMITH_API __declspec(dllimport)
#endif
#elif defined(__GNUC__) && !defined(_WIN32)
#define GFSMITH_API __attribute__((visibility("default")))
#else
#define GFSMITH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of these headers, "MAJOR.MINOR.PATCH". gfsmith_version() gives that of the library.
 */
#define GFSMITH_VERSION "0.1.0"

/** The most shards a codec has: k + m <= GFSMITH_MAX_SHARDS. */
#define GFSMITH_MAX_SHARDS 255

/** The polynomial of the named codes: x^8 + x^4 + x^3 + x^2 + 1, as in ISA-L and Jerasure. */
#define GFSMITH_POLYNOMIAL 0x11du

/** Status codes: the result of a call. */
typedef enum gfsmith_status {
  GFSMITH_OK = 0,            /**< done */
  GFSMITH_EINVAL = -1,       /**< an argument is NULL, out of range or an unknown name */
  GFSMITH_ENOMEM = -2,       /**< out of memory */
  GFSMITH_ENOTMDS = -3,      /**< at this shape the code cannot repair every loss of m shards */
  GFSMITH_ETOOMANY = -4,     /**< more shards are missing than there are parities */
  GFSMITH_EUNSUPPORTED = -5, /**< this CPU, or this build of the library, cannot do it */
  GFSMITH_ESINGULAR = -6     /**< this loss cannot be repaired with this matrix */
} gfsmith_status;

/** One code and shape, ready to run: the matrix, its kernels and their tables. */
typedef struct gfsmith_codec gfsmith_codec;

/** A short English sentence for a status, without a full stop.
 *
 * @param status the result of a call
 * @return a static string, never NULL; "unknown status" for any other number */
GFSMITH_API const char *gfsmith_strerror(gfsmith_status status);

/** The version of the library that the program runs with: GFSMITH_VERSION of the headers with which
 * it was built. docs/versions.md has the guarantees from one version to the next.
 * @return a static string */
GFSMITH_API const char *gfsmith_version(void);

/** Create a codec for a code known by name, over x^8 + x^4 + x^3 + x^2 + 1 (0x11d):
 * ~~~{.unparsed}
 *   "vandermonde"  c[i][j] = (2^i)^j           ISA-L gf_gen_rs_matrix
 *   "cauchy"       c[i][j] = 1 / ((k + i) ^ j) ISA-L gf_gen_cauchy1_matrix
 *   "backblaze"    data are the values at 0 .. k - 1 of a polynomial of degree below k, parities
 *                  those at k .. k + m - 1     Backblaze JavaReedSolomon, klauspost, MinIO
 *   "lch"          c[i][j] = s(x) / c / (x ^ i), x = M + j, M the least power of two >= m,
 *                  s(x) the product of x ^ v over v < M, c that of v, 0 < v < M; for
 *                  j >= 256 - M, 1 / (x ^ i), x = m + j - (256 - M): the fastest with own kernels
 *   "cauchy_orig"  c[i][j] = 1 / (i ^ (m + j)) Jerasure cauchy_original_coding_matrix, w = 8
 *   "cauchy_good"  cauchy_orig with rows and columns scaled so that the bit matrix has few ones
 *                  (see gfsmith_codec_packets)
 *                                              Jerasure cauchy_good_general_coding_matrix, w = 8
 *
 *   "reed_sol_van" data are the values at 0 .. k - 1 of a polynomial of degree below k, parities
 *                  those at k .. k + m - 2 and the leading coefficient; scaled so that the first
 *                  row and the first column are 1
 *                                              Jerasure reed_sol_vandermonde_coding_matrix, w = 8
 *   "reed_sol_r6_op"  as "raid6"               Jerasure reed_sol_r6_coding_matrix, w = 8
 *   "hdfs"         as "cauchy"                 Hadoop RSRawEncoder
 *   "raid6"        m = 2: c[0][j] = 1, c[1][j] = 2^j              Linux md and btrfs RAID-6
 *   "raidz"        m <= 3: c[i][j] = 2^(i (k - 1 - j))            OpenZFS RAID-Z1, Z2, Z3
 *   "snapraid"     k <= 251, m <= 6: c[0][j] = 1, c[i][j] = (1 + y) / (2^-j + y), y = 0, 2, 4, 8,
 *                  16                                             SnapRAID
 *   "zfec"         data are the values at 0, 1, 2, 4, .. 2^(k-2) of a polynomial of degree below k,
 *                  parities those at 2^(k-1) .. 2^(k+m-2)         zfec, Tahoe-LAFS
 *   "plank_vandermonde"  c[i][j] = (j + 1)^i, powers in the field   J. S. Plank's tutorial, 1997
 * ~~~
 *
 * Other names: "klauspost", "minio", "seaweedfs" and "reed-solomon-erasure" are "backblaze",
 * "hadoop" is "hdfs", "md" and "btrfs" are "raid6", "zfs" and "openzfs" are "raidz", "tahoe-lafs"
 * is "zfec".
 *
 * All but "lch" and "plank_vandermonde" give the parity bytes of the libraries and systems named.
 *
 * All are MDS (any m lost shards can be repaired) at every shape they have but two, which are
 * refused at other shapes. "vandermonde" is MDS at m <= 3; m = 4 and k <= 21; k <= 3; k = 4 and
 * k + m <= 25; k = 5 and k + m <= 10. "plank_vandermonde" is MDS at m <= 3 and at k <= 2.
 * (gfsmith_codec_create_matrix takes them at any shape; `gfsmith codes vandermonde --k 22 --m 4`
 * names a loss that cannot be repaired.)
 *
 * The codec uses, for its whole life, the instruction set that gfsmith_isa() names at its creation.
 *
 * @param out where the codec goes; on failure *out = NULL
 * @param code one of the names above
 * @param k data shards, from 1
 * @param m parity shards, from 1; k + m <= GFSMITH_MAX_SHARDS
 * @return GFSMITH_EINVAL (out or code NULL, unknown name, k = 0, m = 0, k + m > 255, a shape that
 *     the code does not have: raid6 with m = 3), GFSMITH_ENOTMDS, GFSMITH_ENOMEM,
 *     GFSMITH_EUNSUPPORTED (the build has no kernels that cover the shape on this CPU; not so with
 *     the default set) */
GFSMITH_API gfsmith_status gfsmith_codec_create(gfsmith_codec **out, const char *code, unsigned k,
                                                unsigned m);

/** Create a codec for any parity matrix, MDS or not: local codes have zeros, for example. The
 * instruction set is captured as by gfsmith_codec_create.
 *
 * @param out where the codec goes; on failure *out = NULL
 * @param polynomial the reduction polynomial with its x^8 term, bit n being the coefficient of x^n;
 *     it must be irreducible and of degree 8 (0x11b, 0x11d, ...)
 * @param k data shards, from 1
 * @param m parity shards, from 1; k + m <= GFSMITH_MAX_SHARDS
 * @param parity m rows of k elements, row-major, c[i][j] = parity[i * k + j]; it is copied
 * @return as gfsmith_codec_create, with GFSMITH_EINVAL also for a NULL matrix and a polynomial that
 *     is reducible or not of degree 8; never GFSMITH_ENOTMDS */
GFSMITH_API gfsmith_status gfsmith_codec_create_matrix(gfsmith_codec **out, unsigned polynomial,
                                                       unsigned k, unsigned m,
                                                       const uint8_t *parity);

/** Create a codec for a local reconstruction code LRC(k, l, r), like Azure's (Huang et al., USENIX
 * ATC 2012): k data, m = l + r parities. The data are l groups of consecutive shards, as even as
 * possible (the first k mod l have one more); parity g < l is the XOR of group g, parities l .. l +
 * r - 1 are over all data. A single loss in a group reads the rest of the group and no more.
 *
 * Every loss of r + 1 shards is repaired. With r = 1, with l = 1, and with r = 2 up to 17 groups of
 * up to 15 data, the code is maximally recoverable: a loss that it cannot repair, no code with such
 * groups can repair (the losses in each group beyond one, and those of global parities, are more
 * than r together). docs/repair.md; generator/gfsmith/codes/lrc.py has the matrix and the proofs.
 *
 * @param out where the codec goes; on failure *out = NULL
 * @param k data shards
 * @param l groups, each with a local parity: 1 <= l <= k
 * @param r global parities, from 1; k + l + r <= GFSMITH_MAX_SHARDS
 * @return as gfsmith_codec_create_matrix */
GFSMITH_API gfsmith_status gfsmith_codec_create_lrc(gfsmith_codec **out, unsigned k, unsigned l,
                                                    unsigned r);

/** Location of the shards of a codec's calls. It affects the choice of kernels, hence the speed,
 * but not the results. */
typedef enum gfsmith_hint {
  /** Unknown, estimated for each call: calls whose shards together take at most half of the
   * second-level cache of a core (512 KiB if the CPU is unknown) are assumed to work in cache,
   * larger ones in memory. For calls of more than 512 KiB, the library on x86-64 measures whether
   * some lines of the sources are in a shared cache. It reads the time stamp counter for that: in a
   * process that must not read it, as in the strict mode of seccomp, give another hint. The default
   * of a new codec. */
  GFSMITH_HINT_AUTO = 0,
  /** In cache: the input was just written, or the output is about to be read. Ordinary loads and
   * stores, for any size. */
  GFSMITH_HINT_CACHED = 1,
  /** In memory, input and output, and the output is not read soon: sources are prefetched, and
   * shards are written with non-temporal stores from a length on that depends on the CPU, 128 bytes
   * to 4 KiB (only to destinations at a multiple of 64 bytes; others are written with ordinary
   * stores). An example is small shards out
   * of a large pool, which AUTO cannot detect. For shards in cache this is slower. */
  GFSMITH_HINT_STREAMING = 2
} gfsmith_hint;

/** Set the location of the shards of this codec's calls. This must be called before the codec is
 * shared between threads; it may be called again. It has no effect if the build lacks such kernels.
 *
 * @param codec the codec
 * @param hint the location
 * @return GFSMITH_EINVAL (codec NULL, not a gfsmith_hint); the hint is unchanged then */
GFSMITH_API gfsmith_status gfsmith_codec_hint(gfsmith_codec *codec, gfsmith_hint hint);

/** Choose packet layout, that of Jerasure's bit matrices (jerasure_bitmatrix_encode and
 * jerasure_schedule_encode with w = 8 and this packet size): a shard consists of regions of 8
 * packets of `packet` bytes, and packet x of a region holds bit x of the elements. Encoding needs
 * additions only.
 *
 * The matrix is the same, but the bytes of the parities differ from those in the ordinary layout.
 * len must be a multiple of 8 * packet, or a call returns GFSMITH_EINVAL. The hint has no effect;
 * otherwise all calls work as in the ordinary layout. Calls take up to 51 KiB of stack. Packet
 * layout is fastest if the build has kernels for the code and shape in this layout and packets have
 * some hundred bytes or more.
 *
 * This must be called before the codec is shared between threads. It clears the repairs that the
 * codec has cached.
 *
 * @param codec the codec
 * @param packet bytes of a packet, any number; 0: the ordinary layout
 * @return GFSMITH_EINVAL (codec NULL, packet too large for 8 * packet to be a size_t),
 *     GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (the build has no xor kernels; not so with the default
 *     set); the codec is unchanged then */
GFSMITH_API gfsmith_status gfsmith_codec_packets(gfsmith_codec *codec, size_t packet);

/** Free a codec.
 *
 * @param codec may be NULL, and nothing is done */
GFSMITH_API void gfsmith_codec_destroy(gfsmith_codec *codec);

/** Compute all parities: parity[i] = sum over j of c[i][j] * data[j].
 *
 * It allocates nothing. Its time does not depend on the data. It depends on len and the shape, and,
 * if the build has kernels for the matrix or the matrix has coefficients of 0 and 1, on the matrix.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param data k pointers to len bytes each, read
 * @param parity m pointers to len bytes each, overwritten
 * @return GFSMITH_EINVAL (codec NULL; with len > 0, an array or one of its pointers NULL) */
GFSMITH_API gfsmith_status gfsmith_encode(const gfsmith_codec *codec, size_t len,
                                          const uint8_t *const *data, uint8_t *const *parity);

/** Bring the parities up to date after one data shard changed:
 *
 *     parity[i] += c[i][data_index] * delta,    delta = old data ^ new data,    for every i < m.
 *
 * The parities are a linear function of the data, so this equals encoding the new data. It
 * allocates nothing; its time does not depend on the data, as with gfsmith_encode.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param data_index which data shard, less than k
 * @param delta len bytes, read
 * @param parity m pointers to len bytes each, read and written
 * @return GFSMITH_EINVAL (codec NULL, data_index >= k; with len > 0, a pointer NULL),
 *     GFSMITH_EUNSUPPORTED (the build has no mad kernels; not so with the default set) */
GFSMITH_API gfsmith_status gfsmith_update(const gfsmith_codec *codec, size_t len,
                                          unsigned data_index, const uint8_t *delta,
                                          uint8_t *const *parity);

/** The same after several data shards changed, equal to gfsmith_update with each of them, and
 * faster: the parities are read and written once for up to 8 of them.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of changed shards, any number; with 0 nothing happens
 * @param indices the changed data shards, each less than k; an index that occurs twice counts twice
 * @param deltas count pointers to len bytes each, read
 * @param parity m pointers to len bytes each, read and written
 * @return as gfsmith_update, with GFSMITH_EINVAL also for NULL indices or deltas */
GFSMITH_API gfsmith_status gfsmith_update_many(const gfsmith_codec *codec, size_t len,
                                               unsigned count, const unsigned *indices,
                                               const uint8_t *const *deltas,
                                               uint8_t *const *parity);

/** Encode data shards that arrive one at a time, in any order: after all k, each once, the parities
 * equal those of gfsmith_encode; before, they are the parities of data whose other shards are
 * zeros.
 *
 *     first:      parity[i]  = c[i][data_index] * data     for every i < m,
 *     not first:  parity[i] += c[i][data_index] * data.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param data_index which data shard, less than k
 * @param data len bytes, read
 * @param parity m pointers to len bytes each, written, and read unless this is the first shard
 * @param first whether this is the first shard; the previous contents of the parities are then
 *     ignored. gfsmith_update is the same call with first = false
 * @return as gfsmith_update */
GFSMITH_API gfsmith_status gfsmith_append(const gfsmith_codec *codec, size_t len,
                                          unsigned data_index, const uint8_t *data,
                                          uint8_t *const *parity, bool first);

/** Rebuild missing shards, data and parity alike, from those that are present, by the plan that
 * gfsmith_plan_create (gfsmith_plan.h) makes. The function decides exactly, for any matrix, whether
 * the loss can be repaired. It reads as few shards as possible, so a local code repairs locally if
 * it can.
 *
 * The first repair of a loss (the same shards missing and wanted) computes a plan, for which it
 * allocates memory (less than 2 MiB). The codec caches the plan, and the next repair is as fast as
 * encoding and allocates nothing. Calls take up to 80 KiB of stack. A codec caches the first plans
 * up to 1 MiB (at most 256 of them); for other losses every repair computes the plan again.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each. The pointer of a missing shard that is not
 *     wanted, or of a present shard that the repair does not need, is ignored and may be NULL
 * @param present k + m flags, whether shard i is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one. Wanting a
 *     shard that is present does nothing
 * @return errors in the order of their detection: GFSMITH_EINVAL (codec or present NULL;
 *     with len > 0, shards NULL), GFSMITH_ETOOMANY (more than m shards missing, wanted or not),
 *     GFSMITH_ENOMEM, GFSMITH_ESINGULAR (the present shards do not determine a wanted shard),
 *     GFSMITH_EINVAL (the pointer of a wanted or needed shard is NULL) */
GFSMITH_API gfsmith_status gfsmith_reconstruct(const gfsmith_codec *codec, size_t len,
                                               uint8_t *const *shards, const bool *present,
                                               const bool *wanted);

/** Do the parities match the data?
 *
 * It allocates nothing, and stops at the first part that differs: its time depends on the position
 * of that part.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, read
 * @param ok *ok = (parity[i] = sum over j of c[i][j] * data[j] for all i); with len = 0, true (if
 * ok is not NULL)
 * @return GFSMITH_EINVAL (codec NULL; with len > 0, ok, shards or one of its pointers NULL) */
GFSMITH_API gfsmith_status gfsmith_check(const gfsmith_codec *codec, size_t len,
                                         const uint8_t *const *shards, bool *ok);

/** In `where` of gfsmith_locate, instead of a shard's index: the parities match the data. */
#define GFSMITH_INTACT 0xffffu
/** In `where` of gfsmith_locate, instead of a shard's index: no single shard explains the
 * mismatch. */
#define GFSMITH_UNEXPLAINED 0xfffeu

/** Find the shard that is silently wrong, at each byte position, like the scrubbers of RAID-6.
 *
 * Each byte position has one of three results: the parities match the data (intact); a change of
 * exactly one shard at this position makes them match (there is never a second such shard); or no
 * single shard explains the mismatch. If one shard is wrong, the function names it. If several
 * shards are wrong at the same position, the result is "unexplained", unless they look like another
 * single wrong shard; with m >= 3 parities of an MDS code two wrong shards cannot. If all positions
 * name the same shard, rebuild it by gfsmith_reconstruct as if it were missing.
 *
 * It allocates nothing and takes up to 38 KiB of stack. Its time depends on contents: a position
 * that does not match costs up to (k + m) * m products.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, read
 * @param counts k + m + 2 numbers of positions, written: entry i counts those at which shard i is
 *     wrong, entry k + m the intact ones, entry k + m + 1 the unexplained ones. Their sum is len
 * @param where NULL, or len numbers, written: the wrong shard's index, GFSMITH_INTACT or
 *     GFSMITH_UNEXPLAINED
 * @return GFSMITH_EINVAL (codec NULL; with len > 0, counts, shards or one of its pointers NULL),
 *     GFSMITH_EUNSUPPORTED (the code cannot tell shards apart: m = 1, or a matrix in which a data
 *     shard is in fewer than two parities or two have proportional columns; or packet layout) */
GFSMITH_API gfsmith_status gfsmith_locate(const gfsmith_codec *codec, size_t len,
                                          const uint8_t *const *shards, size_t *counts,
                                          uint16_t *where);

/** Find and correct wrong symbols, at each byte position: the shards with wrong symbols may differ
 * from position to position.
 *
 * Let r be the number of spare shards: m less the number of missing shards. If the present shards
 * are those of a generalised Reed-Solomon code, t = r / 2, rounded down, otherwise t = 1. At a
 * position at which
 *
 *   - at most t present shards are wrong, all are corrected;
 *   - more than t, but at most r - t of an MDS code are wrong, nothing changes, and the position is
 *     counted as uncorrected;
 *   - more are wrong, the position either counts as uncorrected and does not change, or at most t
 *     of its symbols change such that it satisfies all equations of the code. In the second case
 *     no decoder can detect the mistake, because the position then differs in at most t symbols
 *     from that of another valid stripe.
 *
 * After the call every position that does not count as uncorrected satisfies all equations.
 * gfsmith_reconstruct rebuilds the missing shards afterwards.
 *
 * Generalised Reed-Solomon codes are all named codes with at most two data or two parity shards,
 * and at every shape "cauchy", "hdfs", "cauchy_orig", "cauchy_good", "lch", "backblaze",
 * "reed_sol_van", "zfec" and "snapraid". "vandermonde", "plank_vandermonde" and "raidz" with three
 * or more data and parity shards are not, nor are local codes. The call examines the matrix, so an
 * equal matrix is treated equally.
 *
 * If no shard is missing, it allocates nothing; otherwise it allocates less than 1 MiB. It takes
 * up to 39 KiB of stack. Its time depends on contents: a position that does not match costs up to
 * r * r + (k + r) * t products.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, those of present shards read and corrected. The
 *     pointer of a missing shard is ignored and may be NULL
 * @param present k + m flags, whether shard i is present, or NULL: all are
 * @param counts k + m + 2 numbers of positions, written: entry i counts those at which shard i was
 *     corrected, entry k + m the intact ones, entry k + m + 1 the uncorrected ones
 * @param found NULL, or len numbers, written: the number of corrected symbols, 0 if the position
 *     is intact, or GFSMITH_UNEXPLAINED if it is uncorrected
 * @return errors in the order of their detection: GFSMITH_EINVAL (codec NULL; with len > 0, counts
 *     NULL), GFSMITH_EUNSUPPORTED (m = 1; packet layout), GFSMITH_ETOOMANY (r < 2), GFSMITH_ENOMEM,
 *     GFSMITH_EUNSUPPORTED (the present shards of the code cannot be told apart, as with
 *     gfsmith_locate), GFSMITH_EINVAL (with len > 0, shards or the pointer of a present shard
 *     NULL). No shard and no result is written then */
GFSMITH_API gfsmith_status gfsmith_correct(const gfsmith_codec *codec, size_t len,
                                           uint8_t *const *shards, const bool *present,
                                           size_t *counts, uint16_t *found);

/** Batch calls: the operations on `count` stripes of the same codec and the same shard length, in
 * one call.
 *
 * They write the same bytes as one call for each stripe. They are faster if the shards are short:
 * all arguments are checked first, and while a stripe in memory is computed, the shards of the next
 * one are prefetched, which no call on a single stripe can do. Arrays of pointers hold one stripe
 * after the other. No shard that a call writes may overlap another shard of the call. Nothing is
 * written if the status is not GFSMITH_OK, and nothing is done if len or count is 0 and codec is
 * not NULL. No batch call allocates memory, except for the plan of a new repair. Each takes up to
 * 27 KiB of stack more than the call for one stripe: up to 36 KiB, with packet layout 62 KiB.
 * (docs/batches.md)
 *
 * The forms whose names end in _strided take an address and two distances instead of pointers. */
typedef struct gfsmith_stride {
  /** Bytes from the beginning of a shard to that of the next shard of the same stripe. */
  size_t shard;
  /** Bytes from the beginning of a shard to that of the same shard of the next stripe. */
  size_t stripe;
} gfsmith_stride;

/** gfsmith_encode for each of several stripes.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param data count * k pointers to len bytes each, read: those of stripe s begin at data[s * k]
 * @param parity count * m pointers to len bytes each, overwritten
 * @return GFSMITH_EINVAL (codec NULL; with len > 0 and count > 0, an array or one of its pointers
 *     NULL) */
GFSMITH_API gfsmith_status gfsmith_encode_stripes(const gfsmith_codec *codec, size_t len,
                                                  size_t count, const uint8_t *const *data,
                                                  uint8_t *const *parity);

/** The same; data shard j of stripe s begins at data + s * data_stride.stripe + j *
 * data_stride.shard.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param data the first data shard
 * @param data_stride distances of data shards; any
 * @param parity the first parity shard
 * @param parity_stride distances of parity shards, of which none may be less than len (`shard` only
 *     if m > 1, `stripe` only if count > 1)
 * @return GFSMITH_EINVAL (codec NULL; with len > 0 and count > 0, data or parity NULL, a distance
 * of parity shards less than len) */
GFSMITH_API gfsmith_status gfsmith_encode_strided(const gfsmith_codec *codec, size_t len,
                                                  size_t count, const uint8_t *data,
                                                  gfsmith_stride data_stride, uint8_t *parity,
                                                  gfsmith_stride parity_stride);

/** gfsmith_update for each of several stripes, in each of which one data shard changed.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param indices for each stripe, the changed data shard, less than k
 * @param deltas count pointers to len bytes each, read: old data ^ new data
 * @param parity count * m pointers to len bytes each, read and written
 * @return GFSMITH_EINVAL (codec NULL; with len > 0 and count > 0, an array or one of its pointers
 *     NULL, an index >= k), GFSMITH_EUNSUPPORTED as gfsmith_update */
GFSMITH_API gfsmith_status gfsmith_update_stripes(const gfsmith_codec *codec, size_t len,
                                                  size_t count, const unsigned *indices,
                                                  const uint8_t *const *deltas,
                                                  uint8_t *const *parity);

/** The same; the delta of stripe s begins at deltas + s * delta_stride, its parity shard i at
 * parity + s * parity_stride.stripe + i * parity_stride.shard.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param indices for each stripe, the changed data shard, less than k
 * @param deltas the first delta
 * @param delta_stride bytes from one delta to the next; any
 * @param parity the first parity shard
 * @param parity_stride as in gfsmith_encode_strided
 * @return as gfsmith_update_stripes and gfsmith_encode_strided */
GFSMITH_API gfsmith_status gfsmith_update_strided(const gfsmith_codec *codec, size_t len,
                                                  size_t count, const unsigned *indices,
                                                  const uint8_t *deltas, size_t delta_stride,
                                                  uint8_t *parity, gfsmith_stride parity_stride);

/** gfsmith_reconstruct for each of several stripes, which miss the same shards.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param shards count * (k + m) pointers to len bytes each, of which the same may be NULL as in
 *     gfsmith_reconstruct
 * @param present k + m flags, whether shard i of every stripe is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one
 * @return as gfsmith_reconstruct */
GFSMITH_API gfsmith_status gfsmith_reconstruct_stripes(const gfsmith_codec *codec, size_t len,
                                                       size_t count, uint8_t *const *shards,
                                                       const bool *present, const bool *wanted);

/** The same; shard i of stripe s begins at shards + s * stride.stripe + i * stride.shard.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param shards the first shard
 * @param stride distances of shards, as parity_stride in gfsmith_encode_strided
 * @param present k + m flags, whether shard i of every stripe is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one
 * @return as gfsmith_reconstruct, with GFSMITH_EINVAL also for a distance less than len */
GFSMITH_API gfsmith_status gfsmith_reconstruct_strided(const gfsmith_codec *codec, size_t len,
                                                       size_t count, uint8_t *shards,
                                                       gfsmith_stride stride, const bool *present,
                                                       const bool *wanted);

/** gfsmith_check for each of several stripes.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param shards count * (k + m) pointers to len bytes each, read
 * @param ok count results, written: ok[s] = the parities of stripe s match its data; true for all
 * if len = 0
 * @return GFSMITH_EINVAL (codec NULL; with count > 0, ok NULL; with len > 0 and count > 0, shards
 * or one of its pointers NULL) */
GFSMITH_API gfsmith_status gfsmith_check_stripes(const gfsmith_codec *codec, size_t len,
                                                 size_t count, const uint8_t *const *shards,
                                                 bool *ok);

/** The same; shard i of stripe s begins at shards + s * stride.stripe + i * stride.shard.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param count number of stripes
 * @param shards the first shard
 * @param stride distances of shards; any
 * @param ok count results, as in gfsmith_check_stripes
 * @return GFSMITH_EINVAL (codec NULL; with count > 0, ok NULL; with len > 0 and count > 0, shards
 *     NULL) */
GFSMITH_API gfsmith_status gfsmith_check_strided(const gfsmith_codec *codec, size_t len,
                                                 size_t count, const uint8_t *shards,
                                                 gfsmith_stride stride, bool *ok);

/** Prefetch the data shards of a stripe that a later call will encode, for callers that have the
 * addresses of one stripe ahead but cannot use a batch call: call this before gfsmith_encode of the
 * present stripe. It prefetches at most the first 256 KiB of the shards together, and it reads and
 * writes nothing.
 *
 * @param codec the code
 * @param len bytes of every shard
 * @param data k pointers to len bytes each; their bytes need not be readable
 * @return GFSMITH_EINVAL (codec NULL; with len > 0, data NULL) */
GFSMITH_API gfsmith_status gfsmith_prefetch(const gfsmith_codec *codec, size_t len,
                                            const uint8_t *const *data);

/** The instruction set of codecs created from now on: the last choice of gfsmith_set_isa. Before
 * the first such call it is the one that the environment variable GFSMITH_ISA names, else the best
 * one that this CPU and its operating system support; the library decides this once, at the first
 * use. An unknown or unsupported GFSMITH_ISA is reported in one line on stderr and ignored.
 *
 * Names: "scalar" "sse" "avx2" "avx512" "gfni_sse" "gfni_avx2" "gfni_avx512" and those of other
 * architectures, as far as this build has them. A library built for a single instruction set
 * (GFSMITH_SINGLE_ISA) reads neither the CPU's features nor the environment.
 *
 * @return a static string; "none" if this CPU supports none of the instruction sets of this
 *     build */
GFSMITH_API const char *gfsmith_isa(void);

/** Choose the instruction set of codecs created from now on; existing codecs keep theirs.
 *
 * @param name as gfsmith_isa gives it
 * @return GFSMITH_EINVAL (NULL, or a name unknown to this build), GFSMITH_EUNSUPPORTED (this CPU
 *     or its operating system lacks it); the choice is unchanged then */
GFSMITH_API gfsmith_status gfsmith_set_isa(const char *name);

/** Compare the kernels in this program with the digests (SHA-256) of the proved machine code, for
 * example in a self-test. The call reads the code in memory, about 2 MB in some milliseconds for
 * the default set. Kernels that are compiled from C have no digest.
 *
 * @param compared NULL, or where the number of kernels with the proved code goes
 * @param compiled NULL, or where the number of kernels that are compiled from C goes
 * @return NULL if all digests are equal, else the name of the first kernel with other code, a
 *     static string */
GFSMITH_API const char *gfsmith_check_kernels(unsigned *compared, unsigned *compiled);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_H */
