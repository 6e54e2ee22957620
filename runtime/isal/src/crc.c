/* crc.c: ISA-L's crc.h and crc64.h, except for the functions in named.c. The _base functions use
 * tables, the others carry-less multiplications and crc32 instructions if the processor has them.
 */
#include "crc.h"

#include <string.h>

#include "gfsmith_checksum.h"
#include "isa-l/crc.h"
#include "isa-l/crc64.h"

typedef unsigned char byte;

/* The checks that gfsmith_checksum.h lacks, in the order of their tables. */
enum { CRC32_NORMAL, ECMA_NORMAL, ISO_NORMAL, JONES, JONES_NORMAL, NVME_NORMAL };

static const gfs_crc others[] = {
#include "crc_isal_tables.inc"
};

/* Bytes that stay in the first-level cache between check and copy. */
enum { COPIED = 8192 };

/* A check of gfsmith_checksum.h has functions of its own for short updates. */
static uint64_t best(gfsmith_checksum kind, uint64_t before, const byte *data, uint64_t len) {
  (void)gfsmith_checksum_update(kind, &before, (size_t)len, data);
  return before;
}

static uint64_t other(unsigned which, uint64_t before, const byte *data, uint64_t len) {
  return gfs_crc_updated(&others[which], gfs_crc_set_now(), before, (size_t)len, data);
}

static uint64_t plain(const gfs_crc *crc, uint64_t before, const byte *data, uint64_t len) {
  return gfs_crc_updated(crc, gfs_crc_set_of(NULL), before, (size_t)len, data);
}

/* base_bytes: the type of the bytes of the _base function, which is const in crc64.h only. */
#define CRC(type, name, base_bytes, update, which, crc)                                            \
  type name(type init_crc, const byte *buf, uint64_t len) {                                        \
    return (type)update(which, init_crc, buf, len);                                                \
  }                                                                                                \
  type name##_base(type init_crc, base_bytes *buf, uint64_t len) {                                 \
    return (type)plain(crc, init_crc, buf, len);                                                   \
  }
#define BEST(type, name, base_bytes, kind) CRC(type, name, base_bytes, best, kind, gfs_crc_of(kind))
#define OTHER(type, name, base_bytes, which)                                                       \
  CRC(type, name, base_bytes, other, which, &others[which])

BEST(uint16_t, crc16_t10dif, byte, GFSMITH_CRC16_T10)
BEST(uint32_t, crc32_gzip_refl, byte, GFSMITH_CRC32)
BEST(uint64_t, crc64_ecma_refl, const byte, GFSMITH_CRC64_ECMA)
BEST(uint64_t, crc64_iso_refl, const byte, GFSMITH_CRC64_ISO)
BEST(uint64_t, crc64_rocksoft_refl, const byte, GFSMITH_CRC64_NVME)
OTHER(uint32_t, crc32_ieee, byte, CRC32_NORMAL)
OTHER(uint64_t, crc64_ecma_norm, const byte, ECMA_NORMAL)
OTHER(uint64_t, crc64_iso_norm, const byte, ISO_NORMAL)
OTHER(uint64_t, crc64_jones_refl, const byte, JONES)
OTHER(uint64_t, crc64_jones_norm, const byte, JONES_NORMAL)
OTHER(uint64_t, crc64_rocksoft_norm, const byte, NVME_NORMAL)

uint16_t crc16_t10dif_copy(uint16_t init_crc, uint8_t *dst, uint8_t *src, uint64_t len) {
  for (uint64_t part; len > 0; src += part, dst += part, len -= part) {
    part = len < COPIED ? len : COPIED;
    init_crc = crc16_t10dif(init_crc, src, part);
    memcpy(dst, src, (size_t)part);
  }
  return init_crc;
}

uint16_t crc16_t10dif_copy_base(uint16_t init_crc, uint8_t *dst, uint8_t *src, uint64_t len) {
  if (len > 0)
    memcpy(dst, src, (size_t)len);
  return crc16_t10dif_base(init_crc, src, len);
}

static uint64_t count(int len) { return len > 0 ? (uint64_t)len : 0; }

/* ISA-L passes registers here, and checks are their complements. */
unsigned int crc32_iscsi(byte *buffer, int len, unsigned int init_crc) {
  return ~(uint32_t)best(GFSMITH_CRC32C, (uint32_t)~init_crc, buffer, count(len));
}

unsigned int crc32_iscsi_base(byte *buffer, int len, unsigned int crc_init) {
  return ~(uint32_t)plain(gfs_crc_of(GFSMITH_CRC32C), (uint32_t)~crc_init, buffer, count(len));
}
