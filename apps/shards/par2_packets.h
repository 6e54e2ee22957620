/* The intact packets of files, whose bodies stay there. */
#ifndef TOOL_PAR2_PACKETS_H
#define TOOL_PAR2_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "par2_format.h"

typedef struct par2_packet {
  uint8_t set[PAR2_ID];
  uint8_t type[PAR2_ID];
  size_t file;               /* index of its path */
  uint64_t start;            /* of the body in the file */
  uint64_t size;             /* of the body */
  uint8_t lead[2 * PAR2_ID]; /* the first bytes of the body, then zeros */
} par2_packet;

typedef struct par2_packets {
  char **paths;
  size_t path_count;
  par2_packet *list;
  size_t count;
  uint64_t damaged; /* places that look like the start of a packet and are none */
  bool *foreign;    /* of each path: has it packets of another version (par2_versions.h)? */
} par2_packets;

/* Find the packets of a file. A file that does not exist, or is no regular file, has none.
 * TOOL_REFUSED after a message. */
int par2_packets_scan(par2_packets *packets, const char *path);
/* Read the body of a packet, which the caller frees. TOOL_REFUSED after a message. */
int par2_packets_body(const par2_packets *packets, const par2_packet *packet, uint8_t **body);
void par2_packets_free(par2_packets *packets);

#endif
