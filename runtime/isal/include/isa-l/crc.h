/* crc.h: cyclic redundancy checks of 16 and 32 bits, as ISA-L declares them.
 *
 * gfsmith's drop-in for ISA-L's library (docs/isal.md). A client compiled against ISA-L's own
 * header may be linked with it just as well.
 *
 * Every function continues the check `init_crc` of the bytes before with len bytes and returns the
 * check of all bytes. Any len from 0 on, any alignment; with 0 bytes nothing is read and the result
 * is init_crc. The _base functions are C for any processor. */
#ifndef _CRC_H_
#define _CRC_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* T10 DIF, polynomial 0x8bb7, the highest bit first. Before the first byte: 0. */
uint16_t crc16_t10dif(uint16_t init_crc, const unsigned char *buf, uint64_t len);
uint16_t crc16_t10dif_base(uint16_t seed, uint8_t *buf, uint64_t len);

/* The same of the bytes at src, which are copied to dst. They must not overlap. */
uint16_t crc16_t10dif_copy(uint16_t init_crc, uint8_t *dst, uint8_t *src, uint64_t len);
uint16_t crc16_t10dif_copy_base(uint16_t init_crc, uint8_t *dst, uint8_t *src, uint64_t len);

/* IEEE 802.3, polynomial 0x04c11db7, the highest bit first (as in bzip2). Before the first byte: 0.
 */
uint32_t crc32_ieee(uint32_t init_crc, const unsigned char *buf, uint64_t len);
uint32_t crc32_ieee_base(uint32_t seed, uint8_t *buf, uint64_t len);

/* The same polynomial, the lowest bit first: the check of gzip and zlib. Before the first byte: 0.
 */
uint32_t crc32_gzip_refl(uint32_t init_crc, const unsigned char *buf, uint64_t len);
uint32_t crc32_gzip_refl_base(uint32_t seed, uint8_t *buf, uint64_t len);

/* iSCSI (CRC-32C), polynomial 0x1edc6f41, the lowest bit first. Unlike in the other checks,
 * argument and result are the register: before the first byte it is 0xffffffff, and the check is
 * the complement of the result. len <= 0: no bytes. */
unsigned int crc32_iscsi(unsigned char *buffer, int len, unsigned int init_crc);
unsigned int crc32_iscsi_base(unsigned char *buffer, int len, unsigned int crc_init);

#ifdef __cplusplus
}
#endif

#endif
