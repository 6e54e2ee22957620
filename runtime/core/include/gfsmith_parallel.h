/** @file
 * Calls that several threads share: encoding, repair, checks and updates of long shards, over
 * threads of the caller (an executor) or of the library (a pool). docs/threads.md
 *
 * A parallel call cuts the shards into byte ranges and computes each range as the serial call of
 * the same name does, so it writes the same bytes and returns the same status. All arguments are
 * checked, and a missing repair plan is computed, before the first range is begun. No call
 * of this header allocates memory, except for the plan of a new repair (gfsmith_reconstruct).
 *
 * Ranges begin at multiples of 64 bytes of the address of the first written shard (of the first
 * shard, for a check), and in packet layout at multiples of 8 packets. If all written shards have
 * the same alignment, no two threads write to one cache line.
 *
 * Short calls are not shared: if all shards of a call together have fewer than 4 MiB, or fewer
 * bytes than the executor states, the calling thread does all the work. The only cost is then the
 * comparison of the length.
 */
#ifndef GFSMITH_PARALLEL_H
#define GFSMITH_PARALLEL_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Threads that perform tasks, supplied by the caller: a thread pool, OpenMP, a scheduler. */
typedef struct gfsmith_executor {
  /** Call task(argument, i) once for every i < tasks, in any order, in any threads, at any time
   * before run returns. All effects of the tasks must be visible to the caller when run returns,
   * and those of the caller to the tasks (joining threads or locking a mutex ensures both). */
  void (*run)(void *context, unsigned tasks, void (*task)(void *argument, unsigned index),
              void *argument);
  void *context;    /**< passed to run */
  unsigned workers; /**< number of threads that work at the same time; a call has at most four tasks
                       for each of them */
  /** The fewest bytes of all shards of a call together for which it is shared; 0: 4 MiB. A call of
   * this size has up to 8 tasks. */
  size_t least;
} gfsmith_executor;

/** Threads of the library, which wait without using the CPU until a call needs them. */
typedef struct gfsmith_pool gfsmith_pool;

/** The most threads of a pool. */
#define GFSMITH_POOL_MAX 1024

/** Start a pool. The thread of a call takes part in the work, so the pool starts threads - 1
 * threads. Any number of threads may use the pool at the same time, each for its own call; they
 * share its threads. A task may use the pool itself.
 *
 * The threads of the pool have stacks of at least 1 MiB. They block all signals, so the program's
 * handlers run in its other threads, except those that their own accesses cause: SIGBUS, SIGFPE,
 * SIGILL, SIGSEGV, SIGSYS and SIGTRAP.
 * After fork() the pool of the child process has no threads: calls over it run in the calling
 * thread, and gfsmith_pool_destroy frees its memory. (In a child of a process with several threads,
 * POSIX permits the allocation of memory only after exec.) A thread is not cancelled during a call
 * over a pool, but at its next cancellation point.
 *
 * @param out where the pool goes; on failure *out = NULL
 * @param threads threads that work on one call, including the caller, at most GFSMITH_POOL_MAX; 0:
 *     as many as CPUs that the process may use
 * @return GFSMITH_EINVAL (out NULL, too many threads), GFSMITH_ENOMEM (of memory or threads),
 *     GFSMITH_EUNSUPPORTED (the build has no threads: GFSMITH_NO_THREADS, or WebAssembly) */
GFSMITH_API gfsmith_status gfsmith_pool_create(gfsmith_pool **out, unsigned threads);

/** Stop the threads and free the pool. No call over the pool may be in progress.
 *
 * @param pool may be NULL, and nothing is done */
GFSMITH_API void gfsmith_pool_destroy(gfsmith_pool *pool);

/** The executor of a pool.
 *
 * @param pool the pool, or NULL
 * @return valid as long as the pool; its `workers` is the number of threads. NULL pool: NULL, which
 *     parallel calls accept */
GFSMITH_API const gfsmith_executor *gfsmith_pool_executor(const gfsmith_pool *pool);

/** gfsmith_encode, shared by the threads of an executor.
 *
 * @param codec the code
 * @param executor the threads; NULL, with `run` NULL, or with fewer than 2 workers: the calling
 *     thread alone. So for all parallel calls
 * @param len bytes of every shard
 * @param data k pointers to len bytes each, read
 * @param parity m pointers to len bytes each, overwritten
 * @return as gfsmith_encode */
GFSMITH_API gfsmith_status gfsmith_encode_parallel(const gfsmith_codec *codec,
                                                   const gfsmith_executor *executor, size_t len,
                                                   const uint8_t *const *data,
                                                   uint8_t *const *parity);

/** gfsmith_update, shared by the threads of an executor.
 *
 * @param codec the code
 * @param executor as in gfsmith_encode_parallel
 * @param len bytes of every shard
 * @param data_index which data shard, less than k
 * @param delta len bytes, read
 * @param parity m pointers to len bytes each, read and written
 * @return as gfsmith_update */
GFSMITH_API gfsmith_status gfsmith_update_parallel(const gfsmith_codec *codec,
                                                   const gfsmith_executor *executor, size_t len,
                                                   unsigned data_index, const uint8_t *delta,
                                                   uint8_t *const *parity);

/** gfsmith_update_many, shared by the threads of an executor.
 *
 * @param codec the code
 * @param executor as in gfsmith_encode_parallel
 * @param len bytes of every shard
 * @param count number of changed shards, any number
 * @param indices the changed data shards, each less than k
 * @param deltas count pointers to len bytes each, read
 * @param parity m pointers to len bytes each, read and written
 * @return as gfsmith_update_many */
GFSMITH_API gfsmith_status gfsmith_update_many_parallel(
    const gfsmith_codec *codec, const gfsmith_executor *executor, size_t len, unsigned count,
    const unsigned *indices, const uint8_t *const *deltas, uint8_t *const *parity);

/** gfsmith_append, shared by the threads of an executor.
 *
 * @param codec the code
 * @param executor as in gfsmith_encode_parallel
 * @param len bytes of every shard
 * @param data_index which data shard, less than k
 * @param data len bytes, read
 * @param parity m pointers to len bytes each, written, and read unless this is the first shard
 * @param first whether this is the first shard
 * @return as gfsmith_append */
GFSMITH_API gfsmith_status gfsmith_append_parallel(const gfsmith_codec *codec,
                                                   const gfsmith_executor *executor, size_t len,
                                                   unsigned data_index, const uint8_t *data,
                                                   uint8_t *const *parity, bool first);

/** gfsmith_reconstruct, shared by the threads of an executor. A plan that the codec has not cached
 * is computed once, in the calling thread.
 *
 * @param codec the code
 * @param executor as in gfsmith_encode_parallel
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, some of which may be NULL
 * @param present k + m flags, whether shard i is intact
 * @param wanted k + m flags, whether to rebuild shard i, or NULL for every missing one
 * @return as gfsmith_reconstruct */
GFSMITH_API gfsmith_status gfsmith_reconstruct_parallel(const gfsmith_codec *codec,
                                                        const gfsmith_executor *executor,
                                                        size_t len, uint8_t *const *shards,
                                                        const bool *present, const bool *wanted);

/** gfsmith_check, shared by the threads of an executor. All threads stop soon after one of them
 * finds a difference.
 *
 * @param codec the code
 * @param executor as in gfsmith_encode_parallel
 * @param len bytes of every shard
 * @param shards k + m pointers to len bytes each, read
 * @param ok *ok = do the parities match the data?
 * @return as gfsmith_check */
GFSMITH_API gfsmith_status gfsmith_check_parallel(const gfsmith_codec *codec,
                                                  const gfsmith_executor *executor, size_t len,
                                                  const uint8_t *const *shards, bool *ok);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_PARALLEL_H */
