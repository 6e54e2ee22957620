/* Parts of C11 and of the C library that Frama-C 25 lacks. Its preprocessor reads this file before
 * each source; the guards __FC_STDATOMIC, __FC_STDALIGN and _ENDIAN_H keep Frama-C's own headers
 * out. */
#ifndef ANALYSIS_MISSING_H
#define ANALYSIS_MISSING_H

#include <stdint.h>

/* Atomic objects are ordinary ones: the analysis is sequential. */
#define __FC_STDATOMIC
#define _Atomic(type) __typeof__(type)

typedef _Bool atomic_bool;
typedef enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
} memory_order;

#define atomic_init(object, value) (*(object) = (value))
#define atomic_load_explicit(object, order) (*(object))
#define atomic_store_explicit(object, value, order) (*(object) = (value))
#define atomic_fetch_add_explicit(object, value, order) ((*(object) += (value)) - (value))
#define atomic_fetch_sub_explicit(object, value, order) ((*(object) -= (value)) + (value))
#define atomic_compare_exchange_strong(object, expected, desired)                                  \
  (*(object) == *(expected) ? (*(object) = (desired), 1) : (*(expected) = *(object), 0))
#define atomic_compare_exchange_strong_explicit(object, expected, desired, success, failure)       \
  atomic_compare_exchange_strong(object, expected, desired)

/* A static assertion as a declaration of an array, whose size is not negative. */
#define _Static_assert(condition, words) extern int gfs_static_assertion[(condition) ? 1 : -1]

/* Alignment of objects: no access that is analysed depends on it. */
#define __FC_STDALIGN
#define alignas(bytes)

/* Conversions of byte order as expressions: in Frama-C's header they are functions with any result.
 * All machines that are analysed are little-endian. */
#define _ENDIAN_H
#define htole16(number) ((uint16_t)(number))
#define htole32(number) ((uint32_t)(number))
#define htole64(number) ((uint64_t)(number))
#define le16toh(number) ((uint16_t)(number))
#define le32toh(number) ((uint32_t)(number))
#define le64toh(number) ((uint64_t)(number))

/* A prefetch is no access. */
#define __builtin_prefetch(address, ...) ((void)(address))

#endif
