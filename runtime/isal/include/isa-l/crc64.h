/* crc64.h: cyclic redundancy checks of 64 bits, as ISA-L declares them.
 *
 * gfsmith's drop-in for ISA-L's library (docs/isal.md). A client compiled against ISA-L's own
 * header may be linked with it just as well.
 *
 * Every function continues the check `init_crc` of the bytes before, at first 0, with len bytes and
 * returns the check of all bytes. _refl takes the lowest bit of a byte first, _norm the highest.
 * Any len from 0 on, any alignment; with 0 bytes nothing is read and the result is init_crc. The
 * _base functions are C for any processor. */
#ifndef _CRC64_H_
#define _CRC64_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ECMA-182, polynomial 0x42f0e1eba9ea3693. */
uint64_t crc64_ecma_refl(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_ecma_refl_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_ecma_norm(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_ecma_norm_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);

/* ISO 3309, polynomial 0x1b. */
uint64_t crc64_iso_refl(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_iso_refl_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_iso_norm(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_iso_norm_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);

/* D. Jones, polynomial 0xad93d23594c935a9. */
uint64_t crc64_jones_refl(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_jones_refl_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_jones_norm(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_jones_norm_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);

/* NVMe, polynomial 0xad93d23594c93659; since ISA-L 2.31. */
uint64_t crc64_rocksoft_refl(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_rocksoft_refl_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_rocksoft_norm(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_rocksoft_norm_base(uint64_t init_crc, const unsigned char *buf, uint64_t len);

#if defined(__i386__) || defined(__x86_64__)
/* As the functions without _by8. */
uint64_t crc64_ecma_refl_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_ecma_norm_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_iso_refl_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_iso_norm_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_jones_refl_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_jones_norm_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_rocksoft_refl_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
uint64_t crc64_rocksoft_norm_by8(uint64_t init_crc, const unsigned char *buf, uint64_t len);
#endif

#ifdef __cplusplus
}
#endif

#endif
