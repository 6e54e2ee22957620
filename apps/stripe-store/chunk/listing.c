#include "listing.h"

#include "common/answer.h"
#include "common/fault.h"

typedef struct part {
  uint8_t bytes[LISTED_ROOM];
  uint32_t filled;
} part;

static size_t entries(const server *s) {
  return s->list.chunks + s->list.records + s->list.damaged;
}

static void add_chunks(server *s, part *p) {
  while (s->told < s->list.chunks && p->filled + 8 <= LISTED_ROOM) {
    put_le(p->bytes + p->filled, s->list.chunk[s->told++], 8);
    p->filled += 8;
  }
}

static void add_record(part *p, size_t length) {
  put_le(p->bytes + p->filled, length, 2);
  p->filled += 2 + (uint32_t)length;
}

static void add_damaged(part *p, uint64_t version) {
  put_le(p->bytes + p->filled + 2, version, 8);
  add_record(p, 8);
}

/* The records, then the damaged items. */
static kept_status add_records(server *s, part *p) {
  while (s->told < entries(s) && p->filled + 2 + RECORD_MAX <= LISTED_ROOM) {
    size_t length, at = s->told - s->list.chunks;
    if (at >= s->list.records) {
      add_damaged(p, s->list.damage[at - s->list.records]);
      s->told++;
      continue;
    }
    uint64_t version = s->list.record[at];
    kept_status status = kept_get_record(s->kept, version, p->bytes + p->filled + 2, &length);
    if (status == KEPT_GONE)
      return status;
    s->told++;
    if (status == KEPT_OK)
      add_record(p, length);
    else if (status == KEPT_DAMAGED)
      add_damaged(p, version);
  }
  return KEPT_OK;
}

static void send_part(server *s, uint64_t request, const part *p, bool records) {
  message listed = {.type = MESSAGE_LISTED,
                    .request = request,
                    .epoch = s->who.epoch,
                    .present = !s->list.complete || s->told < entries(s), /* more follows */
                    .wanted = records,
                    .body = p->bytes,
                    .body_bytes = p->filled};
  if (!listed.present)
    kept_list_free(&s->list), s->told = 0;
  bool sent = net_send(s->net, LAYOUT_AGENT, &listed) == GFSMITH_OK;
  server_answer(s, request, sent ? GFSMITH_OK : GFSMITH_ENOMEM, sent ? "" : "it has no memory");
}

/* Until all versions are known, a part is empty: the agent waits for each part only, not for the
 * whole list. */
static void next_part(server *s, uint64_t request) {
  part p = {.filled = 0};
  kept_status status = s->list.complete ? KEPT_OK : kept_list_more(s->kept, &s->list);
  bool records = s->told >= s->list.chunks;
  if (status == KEPT_OK && s->list.complete && records)
    status = add_records(s, &p);
  else if (s->list.complete)
    add_chunks(s, &p);
  if (status == KEPT_OK)
    send_part(s, request, &p, records);
  else
    server_answer_kept(s, request, status);
}

void listing_begin(void *owner, const kept_ticket *ticket, kept_status status) {
  server *s = owner;
  (void)fault_point("list.begin");
  kept_list_free(&s->list);
  s->told = 0;
  if (status == KEPT_OK)
    next_part(s, ticket->request);
  else
    server_answer_kept(s, ticket->request, status);
}

void listing_go_on(server *s, uint64_t request) {
  (void)fault_point("list.part");
  next_part(s, request);
}
