/* pair.h: two libraries with ISA-L's interface, ours and the real one, and memory for the vectors
 * of a call. Every vector begins or ends at an inaccessible page. */
#ifndef PAIR_H
#define PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char byte;

/* A function of either library, to be cast to its type. */
typedef void function(void);

enum { OURS, REAL, LIBRARIES };

/* Loads both libraries. Exits with status 2 if one cannot be loaded. */
void pair_load(const char *ours, const char *real);

/* Returns the function of a library. Exits with status 2 if it has none. */
function *pair_function(int library, const char *name);

/* The vectors of both libraries' calls: MOST of up to LONGEST bytes. */
enum { MOST = 320, LONGEST = 8192 };

/* Positions of vectors: aligned, at the end of their memory, or from its beginning. */
typedef enum place { ALIGNED, AT_END, AT_BEGINNING, PLACES } place;

/* Lays out `count` vectors of `length` bytes for both libraries with the same random bytes, ours at
 * the given place, those of the real library always aligned. */
void pair_vectors(unsigned count, size_t length, place where);

/* Returns the vectors of a library's call. */
byte **pair_of(int library);

/* Fails with the name in `what` unless both libraries have the same bytes in the first `length` of
 * every vector and the bytes around ours are unchanged. */
void pair_compare(const char *what, unsigned count, size_t length);

/* Fails with one line unless the condition holds, and counts the check. */
void pair_expect(bool condition, const char *what, long a, long b, long c);

/* Returns the number of checks; the process ends with status 1 at the first that fails. */
long pair_checks(void);

/* Returns the next number of a fixed pseudo-random sequence. */
uint32_t pair_random(void);

/* Writes the entry of c in the form of ISA-L 2.31 and later with GFNI: four times the matrix of the
 * product by c, the last row first, computed with the real library's gf_mul. */
void pair_matrices(byte c, byte *entry);

/* Returns whether our library runs a set for which ISA-L 2.32 has this form (GFSMITH_ISA). */
bool pair_has_matrices(void);

/* The groups of comparisons. */
void differ_field(void);
void differ_encode(void);
void differ_raid(void);
void differ_crc(void);

#endif
