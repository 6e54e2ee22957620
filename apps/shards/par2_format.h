/* The format of PAR2 files: "Parity Volume Set Specification 2.0", by Nahas, Clements, Nettle and
 * Gallagher. A file is a sequence of packets in any order; numbers are little-endian.
 *
 * A packet: magic (8 bytes), length of the packet (8), MD5 of everything behind this field (16), id
 * of the set (16), type (16), body. The bodies:
 *
 *     Main      block size (8), number of files (4), their ids (16 each)
 *     FileDesc  id (16), MD5 of the file (16), MD5 of its first 16 KiB (16), length (8), name
 *     IFSC      id of the file (16), then for each of its blocks MD5 (16) and CRC-32 (4)
 *     RecvSlic  exponent (4), recovery block
 *     Creator   text */
#ifndef TOOL_PAR2_FORMAT_H
#define TOOL_PAR2_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "md5.h"

enum {
  PAR2_HEADER = 64,
  PAR2_AT_LENGTH = 8,
  PAR2_AT_MD5 = 16,
  PAR2_AT_SET = 32, /* the MD5 covers everything from here */
  PAR2_AT_TYPE = 48,
  PAR2_ID = 16,
  PAR2_MAIN = 12,        /* bytes before the ids */
  PAR2_DESCRIPTION = 56, /* bytes before the name */
  PAR2_MOST_NAME = 4096, /* bytes of a name, with its padding */
  PAR2_CHECKSUMS = 20,   /* bytes of a block's checksums */
  PAR2_EXPONENT = 4,
  PAR2_HEAD = 16384,       /* bytes of a file that its id depends on */
  PAR2_MOST_BLOCKS = 32768 /* so many constants exist */
};

/* Bytes of a block, so that a padded one can be hashed in seconds. */
#define PAR2_MOST_BLOCK ((uint64_t)1 << 32)

#define PAR2_MAGIC "PAR2\0PKT"
#define PAR2_TYPE_MAIN "PAR 2.0\0Main\0\0\0"
#define PAR2_TYPE_DESCRIPTION "PAR 2.0\0FileDesc"
#define PAR2_TYPE_CHECKSUMS "PAR 2.0\0IFSC\0\0\0"
#define PAR2_TYPE_RECOVERY "PAR 2.0\0RecvSlic"
#define PAR2_TYPE_CREATOR "PAR 2.0\0Creator"

uint64_t par2_get(const uint8_t *bytes, unsigned count);
void par2_put(uint8_t *bytes, unsigned count, uint64_t value);

/* Fill the header of a packet, except for its MD5. */
void par2_put_header(uint8_t header[PAR2_HEADER], const uint8_t *set, const char *type,
                     uint64_t body);
/* Begin the MD5 of a packet by the part of its header that the MD5 covers. */
void par2_begin_packet(md5 *sum, const uint8_t header[PAR2_HEADER]);

/* The id of a file: MD5 of the MD5 of its first 16 KiB, its length and its name. */
void par2_file_id(uint8_t id[PAR2_ID], const uint8_t *head, uint64_t length, const char *name);

/* Why the name of a file is refused: it could leave the folder; NULL: it is fine. */
const char *par2_name_fault(const char *name);

/* Blocks of a file. */
uint64_t par2_blocks_of(uint64_t length, uint64_t block);

#endif
