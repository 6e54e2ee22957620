/* What a connection sends: frames and writes in the order in which they came, as far as the peer's
 * credits reach. */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "engine.h"

static gfc_item *new_item(gfc_kind kind, size_t bytes) {
  gfc_item *item = calloc(1, sizeof *item + bytes);
  if (item == NULL)
    return NULL;
  item->kind = kind;
  item->bytes = bytes;
  for (unsigned i = 0; i < GFC_PIECES_MAX; i++)
    item->mark[i].item = item;
  return item;
}

static void free_item(gfc_connection *connection, gfc_item *item) {
  if (item->waiting != NULL)
    atomic_fetch_sub(item->waiting, item->bytes);
  if (item->buffer != NULL)
    connection->spare[connection->spares++] = item->buffer;
  free(item->copy);
  free(item);
}

int gfc_enqueue(gfc_connection *connection, uint8_t type, const void *body, size_t bytes,
                atomic_size_t *waiting) {
  gfc_item *item = new_item(GFC_FRAME, bytes);
  if (item == NULL)
    return GFSMITH_ENOMEM;
  item->type = type;
  item->free = type == GFC_CREDIT;
  item->waiting = waiting;
  if (bytes != 0)
    memcpy(item->body, body, bytes);
  if (type == GFC_CREDIT)
    TAILQ_INSERT_HEAD(&connection->queue, item, entry);
  else
    TAILQ_INSERT_TAIL(&connection->queue, item, entry);
  gfc_flush(connection);
  return GFSMITH_OK;
}

/* What a post came to. @return has it been posted? */
static bool posted(gfc_connection *connection, ssize_t status) {
  if (status == 0)
    return true;
  if (status == -FI_EAGAIN)
    connection->stalled = true;
  else
    gfc_doom(connection, GFSMITH_EPEER, "sending failed: %s", fi_strerror((int)-status));
  return false;
}

static bool post_frame(gfc_connection *connection, gfc_item *item) {
  if (connection->spares == 0)
    return false;
  uint8_t *buffer = connection->spare[connection->spares - 1];
  gfc_frame frame = {.type = item->type,
                     .credits = (uint16_t)connection->owed,
                     .sequence = connection->sent,
                     .bytes = item->bytes,
                     .body = item->body};
  size_t bytes = gfc_frame_write(buffer, &frame);
  bytes = gfc_fault_frame(&connection->engine->faults, buffer, bytes);
  if (bytes != 0 &&
      !posted(connection, fi_send(connection->ep, buffer, bytes, connection->registered.descriptor,
                                  FI_ADDR_UNSPEC, &item->mark[0])))
    return false;
  connection->spares--;
  connection->owed = 0;
  connection->sent++;
  item->buffer = buffer;
  item->posted = item->writing.pieces = 1;
  item->under_way = bytes != 0;
  return true;
}

/* Post so many pieces of a write; with the last the peer is told. */
static ssize_t post_pieces(gfc_connection *connection, gfc_item *item, unsigned count) {
  struct iovec local[GFC_PIECES_MAX];
  struct fi_rma_iov remote[GFC_PIECES_MAX];
  void *descriptor[GFC_PIECES_MAX];
  for (unsigned i = 0; i < count; i++) {
    const gfc_piece *piece = &item->piece[item->posted + i];
    local[i] = (struct iovec){(void *)(uintptr_t)piece->local, piece->bytes};
    remote[i] = (struct fi_rma_iov){piece->remote, piece->bytes, piece->key};
    descriptor[i] = piece->descriptor;
  }
  gfc_mark *mark = &item->mark[item->posted];
  struct fi_msg_rma message = {.msg_iov = local,
                               .desc = descriptor,
                               .iov_count = count,
                               .addr = FI_ADDR_UNSPEC,
                               .rma_iov = remote,
                               .rma_iov_count = count,
                               .context = mark,
                               .data = item->writing.data};
  uint64_t flags = FI_COMPLETION;
  if (item->posted + count == item->writing.pieces)
    flags |= FI_REMOTE_CQ_DATA;
  if (item->writing.delivered && connection->engine->fabric.delivers)
    flags |= FI_DELIVERY_COMPLETE;
  if (item->writing.counter != NULL) {
    flags |= FI_TRIGGER;
    mark->context.triggered = (struct fi_triggered_context){
        .event_type = FI_TRIGGER_THRESHOLD,
        .trigger.threshold = {item->writing.counter, (size_t)item->writing.threshold}};
  }
  return fi_writemsg(connection->ep, &message, flags);
}

static bool post_write(gfc_connection *connection, gfc_item *item) {
  gfc_engine *engine = connection->engine;
  size_t most = gfc_fault_pieces(&engine->faults, engine->fabric.pieces);
  if (item->posted == 0 && item->copy == NULL) {
    item->copy = gfc_fault_write(&engine->faults, item->piece[0].local, item->piece[0].bytes);
    if (item->copy != NULL)
      item->piece[0].local = item->copy;
  }
  while (item->posted < item->writing.pieces) {
    unsigned left = item->writing.pieces - item->posted;
    unsigned count = left < most ? left : (unsigned)most;
    if (!posted(connection, post_pieces(connection, item, count)))
      return false;
    item->posted += count;
    item->under_way++;
    connection->touched = true;
  }
  return true;
}

void gfc_flush(gfc_connection *connection) {
  connection->stalled = false;
  gfc_item *item;
  while (connection->state == GFC_UP && (item = TAILQ_FIRST(&connection->queue)) != NULL) {
    if (!item->free && connection->credits == 0)
      return;
    if (!(item->kind == GFC_FRAME ? post_frame : post_write)(connection, item))
      return;
    if (!item->free)
      connection->credits--;
    connection->touched = true;
    TAILQ_REMOVE(&connection->queue, item, entry);
    TAILQ_INSERT_TAIL(&connection->under_way, item, entry);
    if (item->under_way == 0) { /* left out on purpose */
      item->under_way = 1;
      gfc_completed(connection, item);
    }
  }
}

void gfc_return_credits(gfc_connection *connection) {
  if (connection->owed < GFC_CREDITS / 2 || connection->state != GFC_UP)
    return;
  if (gfc_enqueue(connection, GFC_CREDIT, NULL, 0, NULL) != GFSMITH_OK)
    gfc_doom(connection, GFSMITH_ENOMEM, "no memory to return credits");
}

void gfc_completed(gfc_connection *connection, gfc_item *item) {
  item->under_way--;
  if (item->under_way != 0 || item->posted != item->writing.pieces)
    return;
  TAILQ_REMOVE(&connection->under_way, item, entry);
  bool write = item->kind == GFC_WRITE;
  void *context = item->writing.context;
  free_item(connection, item);
  if (write)
    connection->engine->upper->sent(connection->engine->above, context, GFSMITH_OK);
}

static void discard_list(gfc_connection *connection, gfc_items *items, int status) {
  gfc_item *item;
  while ((item = TAILQ_FIRST(items)) != NULL) {
    TAILQ_REMOVE(items, item, entry);
    bool write = item->kind == GFC_WRITE;
    void *context = item->writing.context;
    free_item(connection, item);
    if (write)
      connection->engine->upper->sent(connection->engine->above, context, status);
  }
}

void gfc_discard(gfc_connection *connection, int status) {
  discard_list(connection, &connection->under_way, status);
  discard_list(connection, &connection->queue, status);
}

static gfc_connection *up(gfc_engine *engine, uint16_t rank) {
  gfc_peer *peer = gfc_peer_find(engine, rank);
  gfc_connection *connection = peer != NULL ? peer->link : NULL;
  return connection != NULL && connection->state == GFC_UP ? connection : NULL;
}

int gfc_control(gfc_engine *engine, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  gfc_connection *connection = up(engine, rank);
  if (connection == NULL)
    return GFSMITH_EPEER;
  if (type < GFC_CONTROL_FIRST || bytes > GFSMITH_MESSAGE_MAX)
    return GFSMITH_EINVAL;
  return gfc_enqueue(connection, type, body, bytes, NULL);
}

int gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing) {
  gfc_connection *connection = up(engine, rank);
  if (connection == NULL)
    return GFSMITH_EPEER;
  gfc_item *item = new_item(GFC_WRITE, 0);
  if (item == NULL)
    return GFSMITH_ENOMEM;
  item->writing = *writing;
  item->writing.piece = item->piece;
  item->writing.pieces = 0;
  for (unsigned i = 0; i < writing->pieces; i++)
    if (writing->piece[i].bytes != 0)
      item->piece[item->writing.pieces++] = writing->piece[i];
  if (item->writing.pieces == 0) {
    free(item);
    return GFSMITH_EINVAL;
  }
  TAILQ_INSERT_TAIL(&connection->queue, item, entry);
  gfc_flush(connection);
  return GFSMITH_OK;
}

void gfc_drop(gfc_engine *engine, uint16_t rank, int status, const char *reason) {
  gfc_connection *connection = up(engine, rank);
  if (connection != NULL)
    gfc_doom(connection, status, "%s", reason);
}
