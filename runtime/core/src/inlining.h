/* inlining.h: marks for functions of short calls, in which each instruction counts.
 *
 * GFS_NOT_INLINED: the rest of a function whose short calls, which do not reach it, then save no
 * registers. GFS_INLINED: a function with arguments that are constants in each caller.
 * GFS_UNLIKELY: a condition whose code is moved away, so that a short call jumps less often.
 * GFS_UNROLLED: before a loop of up to eight iterations, which becomes code without one.
 * GFS_SHORT_CALL: a function of short calls, which begins with a cache line, so that the processor
 * reads few lines of instructions. GFS_ONE_POINTER: a function whose only object in memory is one
 * pointer, which a kernel reads: no write can leave it, so it needs no canary on its stack (which
 * would take a twentieth of a call on 64 bytes). */
#ifndef GFS_INLINING_H
#define GFS_INLINING_H

#if defined(__GNUC__) || defined(__clang__)
#define GFS_NOT_INLINED __attribute__((noinline))
#define GFS_INLINED inline __attribute__((always_inline))
#define GFS_UNLIKELY(condition) __builtin_expect((condition) != 0, 0)
#define GFS_SHORT_CALL __attribute__((aligned(64)))
#else
#define GFS_NOT_INLINED
#define GFS_INLINED inline
#define GFS_UNLIKELY(condition) (condition)
#define GFS_SHORT_CALL
#endif

/* clang needs no request. */
#if defined(__GNUC__) && !defined(__clang__)
#define GFS_UNROLLED _Pragma("GCC unroll 8")
#else
#define GFS_UNROLLED
#endif

#ifdef __has_attribute
#if __has_attribute(no_stack_protector)
#define GFS_ONE_POINTER __attribute__((no_stack_protector))
#endif
#endif
#ifndef GFS_ONE_POINTER
#define GFS_ONE_POINTER
#endif

#endif
