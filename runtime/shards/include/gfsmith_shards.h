/** @file
 * Shard streams: k + m streams from which any k restore the original, with checksums of every
 * block. docs/shard-format.md has the format.
 *
 * The functions read and write through callbacks, in one pass and with bounded memory: two buffers
 * of some stripes (control.memory). So they serve files, pipes and sockets, and originals of any
 * length.
 *
 * Damage is repaired block by block: a call succeeds if the code can repair the damaged blocks of
 * each stripe, even if every shard is damaged.
 *
 * Threads: a call uses the threads of its control. A callback of one source or sink is called by
 * one thread at a time, in order, but not always by the same thread.
 */
#ifndef GFSMITH_SHARDS_H
#define GFSMITH_SHARDS_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a header. */
#define GFSMITH_SHARDS_HEADER 512
/** The most bytes of a block. */
#define GFSMITH_SHARDS_MAX_BLOCK (1u << 20)
/** The most bytes of the name of an original. */
#define GFSMITH_SHARDS_MAX_NAME 229
/** The highest generation, 2^53 - 1. */
#define GFSMITH_SHARDS_MAX_GENERATION ((UINT64_C(1) << 53) - 1)

/** Status codes of this part of the library, in addition to those of gfsmith_status. */
typedef enum gfsmith_shards_status {
  GFSMITH_SHARDS_EREAD = -32,     /**< the source of the original cannot be read */
  GFSMITH_SHARDS_EWRITE = -33,    /**< a sink cannot be written */
  GFSMITH_SHARDS_ECANCELED = -34, /**< progress returned false */
  GFSMITH_SHARDS_EFORMAT = -35,   /**< a header is invalid, or no source has a valid one */
  GFSMITH_SHARDS_EMIXED = -36,    /**< shards of different sets, or two with the same index */
  GFSMITH_SHARDS_EDAMAGED = -37   /**< no trailer is intact, or the restored bytes do not have the
                                       checksum of the original */
} gfsmith_shards_status;

/** Describe a status of this part or of gfsmith_status.
 *
 * @param status the result of a call
 * @return a short English sentence without a full stop, never NULL */
GFSMITH_API const char *gfsmith_shards_strerror(int status);

/** The kind of an original. */
typedef enum gfsmith_shards_content {
  GFSMITH_SHARDS_BYTES = 0, /**< bytes */
  GFSMITH_SHARDS_TAR = 1    /**< a tar archive of a folder */
} gfsmith_shards_content;

/** The header of a shard. All fields but the index are equal in the headers of a set. */
typedef struct gfsmith_shards_header {
  char code[32];       /**< a name of gfsmith_codec_create, or "lrc" */
  uint32_t k;          /**< data shards */
  uint32_t m;          /**< parity shards */
  uint32_t l;          /**< groups of an lrc, m = l + r; 0 for other codes */
  uint32_t block;      /**< bytes: a multiple of 64, at most GFSMITH_SHARDS_MAX_BLOCK */
  uint32_t content;    /**< a gfsmith_shards_content */
  uint32_t index;      /**< data 0 .. k - 1, parity k .. k + m - 1 */
  uint64_t generation; /**< from 1; a new version of the original has a higher one */
  uint8_t set_id[16];  /**< random bytes, which make the set unique */
  char name[256];      /**< of the original: at most GFSMITH_SHARDS_MAX_NAME bytes without '/' */
} gfsmith_shards_header;

/** The reason why a header is invalid.
 * @param header the header
 * @return a sentence without a full stop; NULL: it is valid */
GFSMITH_API const char *gfsmith_shards_header_fault(const gfsmith_shards_header *header);

/** Encode a header.
 * @param header a valid header
 * @param raw GFSMITH_SHARDS_HEADER bytes, written
 * @return GFSMITH_EINVAL (NULL, or a header with a fault) */
GFSMITH_API int gfsmith_shards_header_write(const gfsmith_shards_header *header, uint8_t *raw);

/** Decode a header.
 * @param header written if it is valid
 * @param raw the first bytes of a stream
 * @param size their number
 * @param why NULL, or where the reason goes, a static string, if the result is not GFSMITH_OK
 * @return GFSMITH_EINVAL (NULL), GFSMITH_SHARDS_EFORMAT */
GFSMITH_API int gfsmith_shards_header_read(gfsmith_shards_header *header, const uint8_t *raw,
                                           size_t size, const char **why);

/** Do two headers belong to shards of one set? They do if they are equal except for the index.
 * @param a a header
 * @param b another header
 * @return false also if one is invalid */
GFSMITH_API bool gfsmith_shards_same_set(const gfsmith_shards_header *a,
                                         const gfsmith_shards_header *b);

/** A stream to read. */
typedef struct gfsmith_shards_source {
  /** Read up to `size` bytes. Returns their number, 0 at the end, a negative number on failure. */
  ptrdiff_t (*read)(void *context, void *to, size_t size);
  /** Move forward by `size` bytes; NULL: bytes are read instead. Returns success. */
  bool (*skip)(void *context, uint64_t size);
  void *context; /**< passed to both */
  /** The index of the shard if the caller can state it, for example from a file name, else -1. It
   * is used if the header is damaged. */
  int index;
} gfsmith_shards_source;

/** A stream to write. */
typedef struct gfsmith_shards_sink {
  /** Write all bytes. Returns success. NULL: nothing is written. */
  bool (*write)(void *context, const void *bytes, size_t size);
  void *context; /**< passed to write */
} gfsmith_shards_sink;

/** Threads, memory, progress and cancellation of a call. All zero: the calling thread, 32 MiB, no
 * progress. */
typedef struct gfsmith_shards_control {
  /** Call task(argument, i) once for each i < tasks, by any threads, and return when all are done.
   * NULL: the calling thread calls them. */
  void (*run)(void *context, unsigned tasks, void (*task)(void *argument, unsigned index),
              void *argument);
  void *run_context; /**< passed to run */
  /** Bytes of all buffers together; at least two buffers of k + m records are allocated. 0: 32 MiB
   */
  size_t memory;
  /** Called by the calling thread with the bytes of the original done so far. False: cancel. */
  bool (*progress)(void *context, uint64_t done);
  void *progress_context; /**< passed to progress */
} gfsmith_shards_control;

/** The state of one shard after a call. */
typedef struct gfsmith_shards_state {
  int source;           /**< position of its source; -1: no source is this shard */
  bool header_damaged;  /**< the index is known from the source */
  bool trailer_damaged; /**< including a stream that ends too soon */
  bool too_long;        /**< bytes follow after the trailer */
  bool unreadable;      /**< the source reported a failure */
  bool read;            /**< false: the call did not need this shard */
  uint64_t bad_blocks;  /**< lost blocks in a stream with a source */
} gfsmith_shards_state;

/** The result of a call that reads shards. */
typedef struct gfsmith_shards_report {
  gfsmith_shards_header header;                   /**< of the set, with index 0 */
  uint64_t length;                                /**< of the original */
  uint64_t stripes;                               /**< number of stripes */
  uint8_t original[16];                           /**< checksum of the original */
  uint64_t lost_stripes;                          /**< stripes that the code cannot repair */
  uint64_t false_stripes;                         /**< complete stripes whose parities are wrong */
  int mixed[2];                                   /**< EMIXED: positions of two sources */
  gfsmith_shards_state shard[GFSMITH_MAX_SHARDS]; /**< by index */
  bool foreign[GFSMITH_MAX_SHARDS];               /**< by position: no header and no index */
} gfsmith_shards_report;

/** Is a shard complete and without damage?
 * @param state its state
 * @return false also for a missing shard */
GFSMITH_API bool gfsmith_shards_intact(const gfsmith_shards_state *state);

/** Encode an original into k + m streams.
 *
 * @param header of the set; its index is ignored
 * @param original the original, read to its end
 * @param shards k + m sinks
 * @param control NULL: as all zero
 * @param length NULL, or where the length of the original goes
 * @return GFSMITH_EINVAL (NULL, a fault of the header, unknown code), GFSMITH_ENOTMDS,
 *     GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED, GFSMITH_SHARDS_EREAD, GFSMITH_SHARDS_EWRITE,
 *     GFSMITH_SHARDS_ECANCELED */
GFSMITH_API int gfsmith_shards_split(const gfsmith_shards_header *header,
                                     const gfsmith_shards_source *original,
                                     const gfsmith_shards_sink *shards,
                                     const gfsmith_shards_control *control, uint64_t *length);

/** Read all shards and check everything: headers, blocks, parities, trailers and the original. The
 * report has the damage.
 *
 * @param sources the shards in any order, from 1 to GFSMITH_MAX_SHARDS
 * @param count their number
 * @param control NULL: as all zero
 * @param report the result, written also on failure
 * @return GFSMITH_OK (also with damage), GFSMITH_EINVAL, GFSMITH_ENOTMDS, GFSMITH_ENOMEM,
 *     GFSMITH_EUNSUPPORTED, GFSMITH_SHARDS_EFORMAT, GFSMITH_SHARDS_EMIXED,
 *     GFSMITH_SHARDS_EDAMAGED, GFSMITH_SHARDS_ECANCELED */
GFSMITH_API int gfsmith_shards_verify(const gfsmith_shards_source *sources, unsigned count,
                                      const gfsmith_shards_control *control,
                                      gfsmith_shards_report *report);

/** Restore the original. The data shards are read first, and the parities only if they are needed.
 * On failure the sink may have received the beginning of the original, each byte of it checked.
 *
 * @param sources the shards in any order
 * @param count their number
 * @param original where the original goes
 * @param control NULL: as all zero
 * @param report the result, written also on failure
 * @return as gfsmith_shards_verify, and GFSMITH_ETOOMANY or GFSMITH_ESINGULAR (a stripe cannot be
 *     repaired), GFSMITH_SHARDS_EWRITE */
GFSMITH_API int gfsmith_shards_join(const gfsmith_shards_source *sources, unsigned count,
                                    const gfsmith_shards_sink *original,
                                    const gfsmith_shards_control *control,
                                    gfsmith_shards_report *report);

/** Write complete shards from damaged ones.
 *
 * @param sources the shards in any order
 * @param count their number
 * @param sinks as many as a set can have (GFSMITH_MAX_SHARDS), by index; those without `write` are
 *     not wanted
 * @param control NULL: as all zero
 * @param report the result, written also on failure
 * @return as gfsmith_shards_join; GFSMITH_EINVAL also if a shard is wanted that the set does not
 *     have (report->header has its k and m) */
GFSMITH_API int gfsmith_shards_repair(const gfsmith_shards_source *sources, unsigned count,
                                      const gfsmith_shards_sink *sinks,
                                      const gfsmith_shards_control *control,
                                      gfsmith_shards_report *report);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_SHARDS_H */
