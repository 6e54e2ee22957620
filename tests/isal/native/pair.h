/* pair.h: two libraries with ISA-L's interface beside each other, ours and the real one, and memory
 * for the vectors of a call, in which every vector ends or begins at a page that must not be
 * touched. */
#ifndef PAIR_H
#define PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char byte;

/* A function of either library, to be cast to its type. */
typedef void function(void);

enum { OURS, REAL, LIBRARIES };

/* Load both. Exits with status 2 if one cannot be loaded. */
void pair_load(const char *ours, const char *real);

/* The function of a library. Exits with status 2 if it has none. */
function *pair_function(int library, const char *name);

/* The vectors of both libraries' calls: MOST of up to LONGEST bytes. */
enum { MOST = 320, LONGEST = 8192 };

/* Where vectors lie: aligned, at the end of their memory, or from its beginning. */
typedef enum place { ALIGNED, AT_END, AT_BEGINNING, PLACES } place;

/* Lay out `count` vectors of `length` bytes for both libraries with the same random bytes, ours at
 * the place asked for, those of the real library always aligned. */
void pair_vectors(unsigned count, size_t length, place where);

/* The vectors of a library's call. */
byte **pair_of(int library);

/* Fail, naming what, unless both have the same bytes in the first `length` of every vector and the
 * bytes around ours are as they were. */
void pair_compare(const char *what, unsigned count, size_t length);

/* Fail with one line unless the condition holds. Counts. */
void pair_expect(bool condition, const char *what, long a, long b, long c);

/* Checks made so far; the process ends with the first that fails, status 1. */
long pair_checks(void);

/* A sequence of numbers that is the same each time. */
uint32_t pair_random(void);

/* The parts. */
void differ_field(void);
void differ_encode(void);
void differ_raid(void);

#endif
