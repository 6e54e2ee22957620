/* raid.h: parity by XOR, and P and Q of RAID 6 over GF(2^8) modulo 0x11d, as ISA-L declares them.
 *
 * gfsmith's drop-in for ISA-L's erasure-code and RAID interface (docs/isal.md). A client compiled
 * against ISA-L's own header may be linked with it just as well.
 *
 * array: the vectors of data, then the parities. Every function returns 0 on success, else another
 * number. Any len from 0 on, any alignment, any number of vectors from the given minimum. */
#ifndef _RAID_H_
#define _RAID_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Write the last vector: the XOR of those before it. vects >= 3. */
int xor_gen(int vects, int len, void **array);
int xor_gen_base(int vects, int len, void **array);

/* Is the XOR of all vectors 0? vects >= 2. */
int xor_check(int vects, int len, void **array);
int xor_check_base(int vects, int len, void **array);

/* Write the last two vectors: P, the XOR of the data, and Q, the sum of 2^j times data j.
 * vects >= 4. */
int pq_gen(int vects, int len, void **array);
int pq_gen_base(int vects, int len, void **array);

/* Do the last two vectors match the data? vects >= 4. */
int pq_check(int vects, int len, void **array);
int pq_check_base(int vects, int len, void **array);

#if defined(__i386__) || defined(__x86_64__)
/* As the functions without an instruction set in their names. */
int xor_gen_sse(int vects, int len, void **array);
int xor_gen_avx(int vects, int len, void **array);
int xor_check_sse(int vects, int len, void **array);
int pq_gen_sse(int vects, int len, void **array);
int pq_gen_avx(int vects, int len, void **array);
int pq_gen_avx2(int vects, int len, void **array);
int pq_check_sse(int vects, int len, void **array);
#endif

#ifdef __cplusplus
}
#endif

#endif
