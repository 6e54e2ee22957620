#include "message.h"

#include <string.h>

void put_le(uint8_t *at, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    at[i] = (uint8_t)(value >> (8 * i));
}

uint64_t get_le(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)at[i] << (8 * i);
  return value;
}

size_t message_encode(const message *m, uint8_t *bytes) {
  uint8_t *at = bytes;
  put_le(at, m->type, 2);
  put_le(at + 2, m->turn, 2);
  put_le(at + 4, m->sink, 2);
  put_le(at + 6, MESSAGE_VERSION, 2);
  put_le(at + 8, m->epoch, 4);
  put_le(at + 12, m->request, 8);
  put_le(at + 20, m->version, 8);
  put_le(at + 28, m->hash, 8);
  put_le(at + 36, m->present, 8);
  put_le(at + 44, m->wanted, 8);
  put_le(at + 52, m->length, 8);
  put_le(at + 60, m->slice, 4);
  put_le(at + 64, m->deadline_ms, 4);
  put_le(at + 68, (uint32_t)m->status, 4);
  put_le(at + 72, m->body_bytes, 4);
  if (m->body_bytes > 0)
    memcpy(at + MESSAGE_HEADER, m->body, m->body_bytes);
  return MESSAGE_HEADER + m->body_bytes;
}

bool message_decode(message *m, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  if (length < MESSAGE_HEADER || length > GFSMITH_MESSAGE_MAX)
    return false;
  uint64_t type = get_le(at, 2);
  if (type == 0 || type >= MESSAGE_TYPES || get_le(at + 6, 2) != MESSAGE_VERSION ||
      get_le(at + 72, 4) != length - MESSAGE_HEADER)
    return false;
  *m = (message){
      .type = (uint8_t)type,
      .turn = (uint16_t)get_le(at + 2, 2),
      .sink = (uint16_t)get_le(at + 4, 2),
      .epoch = (uint32_t)get_le(at + 8, 4),
      .request = get_le(at + 12, 8),
      .version = get_le(at + 20, 8),
      .hash = get_le(at + 28, 8),
      .present = get_le(at + 36, 8),
      .wanted = get_le(at + 44, 8),
      .length = get_le(at + 52, 8),
      .slice = (uint32_t)get_le(at + 60, 4),
      .deadline_ms = (uint32_t)get_le(at + 64, 4),
      .status = (int32_t)(uint32_t)get_le(at + 68, 4),
      .body = at + MESSAGE_HEADER,
      .body_bytes = (uint32_t)(length - MESSAGE_HEADER),
  };
  return true;
}
