#include "par2_format.h"

#include <string.h>

uint64_t par2_get(const uint8_t *bytes, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = count; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

void par2_put(uint8_t *bytes, unsigned count, uint64_t value) {
  for (unsigned i = 0; i < count; i++)
    bytes[i] = (uint8_t)(value >> 8 * i);
}

void par2_put_header(uint8_t header[PAR2_HEADER], const uint8_t *set, const char *type,
                     uint64_t body) {
  memset(header, 0, PAR2_HEADER);
  memcpy(header, PAR2_MAGIC, 8);
  par2_put(header + PAR2_AT_LENGTH, 8, PAR2_HEADER + body);
  memcpy(header + PAR2_AT_SET, set, PAR2_ID);
  memcpy(header + PAR2_AT_TYPE, type, PAR2_ID);
}

void par2_begin_packet(md5 *sum, const uint8_t header[PAR2_HEADER]) {
  md5_begin(sum);
  md5_add(sum, header + PAR2_AT_SET, PAR2_HEADER - PAR2_AT_SET);
}

void par2_file_id(uint8_t id[PAR2_ID], const uint8_t *head, uint64_t length, const char *name) {
  uint8_t bytes[8];
  md5 sum;
  par2_put(bytes, 8, length);
  md5_begin(&sum);
  md5_add(&sum, head, MD5_BYTES);
  md5_add(&sum, bytes, sizeof bytes);
  md5_add(&sum, name, strlen(name));
  md5_end(&sum, id);
}

const char *par2_name_fault(const char *name) {
  if (name[0] == '\0')
    return "is empty";
  if (name[0] == '/')
    return "is an absolute path";
  for (const char *part = name;; part++) {
    size_t length = strcspn(part, "/");
    if (length == 0)
      return "has an empty part";
    if (length <= 2 && strncmp(part, "..", length) == 0)
      return "has a part \".\" or \"..\"";
    part += length;
    if (*part == '\0')
      return NULL;
  }
}

uint64_t par2_blocks_of(uint64_t length, uint64_t block) {
  return length / block + (length % block != 0);
}
