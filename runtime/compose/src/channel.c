#include "channel.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE = (GFC_FRAME_MAX + 63) / 64 * 64 }; /* of the buffers */

void gfc_channel_init(gfc_channel *channel) {
  channel->credits = GFC_CREDITS;
  TAILQ_INIT(&channel->queue);
  TAILQ_INIT(&channel->under_way);
}

void gfc_channel_fail(gfc_channel *channel, int status, const char *format, ...) {
  if (channel->state == GFC_DOWN)
    return;
  char reason[GFSMITH_REASON_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  memcpy(channel->reason, reason, sizeof reason);
  channel->status = status;
  channel->state = GFC_DOWN;
}

int gfc_channel_allocate(gfc_channel *channel) {
  size_t bytes = (size_t)(GFC_RECEIVES + GFC_SENDS) * STRIDE;
  channel->buffers = aligned_alloc(64, bytes);
  channel->receives = calloc(GFC_RECEIVES, sizeof *channel->receives);
  if (channel->buffers == NULL || channel->receives == NULL)
    return -FI_ENOMEM;
  for (unsigned i = 0; i < GFC_RECEIVES; i++) {
    channel->receives[i].kind = GFC_RECEIVE;
    channel->receives[i].buffer = channel->buffers + (size_t)i * STRIDE;
    channel->receives[i].mark[0].item = &channel->receives[i];
  }
  for (unsigned i = 0; i < GFC_SENDS; i++)
    channel->spare[channel->spares++] = channel->buffers + (size_t)(GFC_RECEIVES + i) * STRIDE;
  int status = gfc_fabric_register(channel->fabric, channel->buffers, bytes, GFC_SOURCE, NULL,
                                   &channel->registered);
  return status == GFSMITH_OK ? 0 : -FI_ENOMEM;
}

/* ---- sending: frames and writes in the order of the calls, as far as the credits of the peer
 * reach ---- */

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

static void free_item(gfc_channel *channel, gfc_item *item) {
  if (item->waiting != NULL)
    atomic_fetch_sub(item->waiting, item->bytes);
  if (item->buffer != NULL)
    channel->spare[channel->spares++] = item->buffer;
  free(item->copy);
  free(item);
}

/* A post of this item is complete. */
static void completed(gfc_channel *channel, gfc_item *item) {
  item->under_way--;
  if (item->under_way != 0 || item->posted != item->writing.pieces)
    return;
  TAILQ_REMOVE(&channel->under_way, item, entry);
  bool write = item->kind == GFC_WRITE;
  void *context = item->writing.context;
  free_item(channel, item);
  if (write)
    channel->handlers->events->sent(channel->handlers->observer, context, GFSMITH_OK);
}

int gfc_channel_send(gfc_channel *channel, uint8_t type, const void *body, size_t bytes,
                     atomic_size_t *waiting) {
  gfc_item *item = new_item(GFC_FRAME, bytes);
  if (item == NULL)
    return GFSMITH_ENOMEM;
  item->type = type;
  item->free = type == GFC_CREDIT;
  item->answer = item->free || (channel->answering && type != GFC_MESSAGE);
  channel->answers += item->answer;
  item->waiting = waiting;
  if (bytes != 0)
    memcpy(item->body, body, bytes);
  if (type == GFC_CREDIT)
    TAILQ_INSERT_HEAD(&channel->queue, item, entry);
  else
    TAILQ_INSERT_TAIL(&channel->queue, item, entry);
  gfc_channel_flush(channel);
  return GFSMITH_OK;
}

/* Take note of the result of a post. @return was it posted? */
static bool posted(gfc_channel *channel, ssize_t status) {
  if (status == 0)
    return true;
  if (status == -FI_EAGAIN)
    channel->stalled = true;
  else
    gfc_channel_fail(channel, GFSMITH_EPEER, "sending failed: %s", fi_strerror((int)-status));
  return false;
}

static bool post_frame(gfc_channel *channel, gfc_item *item) {
  if (channel->spares == 0)
    return false;
  uint8_t *buffer = channel->spare[channel->spares - 1];
  gfc_frame frame = {.type = item->type,
                     .credits = (uint16_t)channel->owed,
                     .number = channel->sent,
                     .bytes = item->bytes,
                     .body = item->body};
  size_t bytes = gfc_frame_write(buffer, &frame, &channel->session.send);
  bytes = gfc_fault_frame(channel->faults, &channel->session.send, channel->sent, buffer, bytes);
  if (bytes != 0 &&
      !posted(channel, fi_send(channel->ep, buffer, bytes, channel->registered.descriptor,
                               FI_ADDR_UNSPEC, &item->mark[0])))
    return false;
  channel->spares--;
  channel->owed = 0;
  channel->sent++;
  gfc_session_posted(&channel->session, item->type);
  item->buffer = buffer;
  item->posted = item->writing.pieces = 1;
  item->under_way = bytes != 0;
  return true;
}

/* Post `count` pieces of a write; the last one notifies the peer. */
static ssize_t post_pieces(gfc_channel *channel, gfc_item *item, unsigned count) {
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
  if (item->writing.delivered && channel->fabric->delivers)
    flags |= FI_DELIVERY_COMPLETE;
  if (item->writing.counter != NULL) {
    flags |= FI_TRIGGER;
    mark->context.triggered = (struct fi_triggered_context){
        .event_type = FI_TRIGGER_THRESHOLD,
        .trigger.threshold = {item->writing.counter, (size_t)item->writing.threshold}};
  }
  return fi_writemsg(channel->ep, &message, flags);
}

/* Do the numbers of frames count writes? Not if the provider may post writes: later frames can
 * overtake these. */
static bool counts_writes(const gfc_channel *channel) { return !channel->fabric->triggers; }

/* Give a write its number and its tag. Writes are posted in order, also those in parts. */
static void seal_write(gfc_channel *channel, gfc_item *item) {
  const gfc_piece *payload = item->piece;
  bool any = item->writing.payload;
  item->sealed = true;
  if (item->writing.tag != NULL)
    gfc_seal_write(&channel->session.send, channel->written, item->writing.data,
                   any ? payload->local : NULL, any ? payload->bytes : 0, item->writing.tag);
  channel->written++;
}

static bool post_write(gfc_channel *channel, gfc_item *item) {
  size_t most = gfc_fault_pieces(channel->faults, channel->fabric->pieces);
  if (item->posted == 0 && item->copy == NULL) {
    item->copy = gfc_fault_write(channel->faults, item->piece[0].local, item->piece[0].bytes);
    if (item->copy != NULL)
      item->piece[0].local = item->copy;
  }
  if (!item->sealed)
    seal_write(channel, item);
  while (item->posted < item->writing.pieces) {
    unsigned left = item->writing.pieces - item->posted;
    unsigned count = left < most ? left : (unsigned)most;
    if (!posted(channel, post_pieces(channel, item, count)))
      return false;
    item->posted += count;
    item->under_way++;
    channel->touched = true;
  }
  channel->sent += counts_writes(channel);
  return true;
}

void gfc_channel_flush(gfc_channel *channel) {
  channel->stalled = false;
  gfc_item *item;
  while (channel->state == GFC_UP && (item = TAILQ_FIRST(&channel->queue)) != NULL) {
    if (!item->free && channel->credits == 0)
      return;
    if (!(item->kind == GFC_FRAME ? post_frame : post_write)(channel, item))
      return;
    if (!item->free)
      channel->credits--;
    channel->touched = true;
    channel->answers -= item->answer;
    TAILQ_REMOVE(&channel->queue, item, entry);
    TAILQ_INSERT_TAIL(&channel->under_way, item, entry);
    if (item->under_way == 0) { /* left out on purpose (faults) */
      item->under_way = 1;
      completed(channel, item);
    }
  }
}

int gfc_channel_write(gfc_channel *channel, const gfc_writing *writing) {
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
  TAILQ_INSERT_TAIL(&channel->queue, item, entry);
  gfc_channel_flush(channel);
  return GFSMITH_OK;
}

static void discard_list(gfc_channel *channel, gfc_items *items, int status) {
  gfc_item *item;
  while ((item = TAILQ_FIRST(items)) != NULL) {
    TAILQ_REMOVE(items, item, entry);
    bool write = item->kind == GFC_WRITE;
    void *context = item->writing.context;
    free_item(channel, item);
    if (write)
      channel->handlers->events->sent(channel->handlers->observer, context, status);
  }
}

void gfc_channel_discard(gfc_channel *channel, int status) {
  gfc_unregister(&channel->registered);
  discard_list(channel, &channel->under_way, status);
  discard_list(channel, &channel->queue, status);
  free(channel->buffers);
  free(channel->receives);
  channel->buffers = NULL;
  channel->receives = NULL;
}

/* ---- receiving: data of the peer is checked before it is used ---- */

/* Return credits, if many are owed. */
static void return_credits(gfc_channel *channel) {
  if (channel->owed < GFC_CREDITS / 2 || channel->state != GFC_UP)
    return;
  if (gfc_channel_send(channel, GFC_CREDIT, NULL, 0, NULL) != GFSMITH_OK)
    gfc_channel_fail(channel, GFSMITH_ENOMEM, "no memory to return credits");
}

static int post_receive(gfc_channel *channel, gfc_item *item) {
  ssize_t status = fi_recv(channel->ep, item->buffer, GFC_FRAME_MAX, channel->registered.descriptor,
                           FI_ADDR_UNSPEC, &item->mark[0]);
  channel->touched = true;
  return (int)status;
}

int gfc_channel_post_receives(gfc_channel *channel) {
  int status = 0;
  for (unsigned i = 0; status == 0 && i < GFC_RECEIVES; i++)
    status = post_receive(channel, &channel->receives[i]);
  return status;
}

static void repost(gfc_channel *channel, gfc_item *item) {
  if (channel->state == GFC_DOWN)
    return;
  int status = post_receive(channel, item);
  if (status != 0)
    gfc_channel_fail(channel, GFSMITH_EFABRIC, "fi_recv: %s", fi_strerror(-status));
}

/* The peer has used a credit. */
static void owe(gfc_channel *channel) {
  channel->owed++;
  if (channel->answers > GFC_ANSWERS_MAX)
    gfc_channel_fail(channel, GFSMITH_ECORRUPT, "it does not take %u answers", channel->answers);
  return_credits(channel);
}

static void message(gfc_channel *channel, const gfc_frame *frame) {
  const gfc_handlers *handlers = channel->handlers;
  if (handlers->message != NULL)
    handlers->message(handlers->context, channel->rank, frame->body, frame->bytes);
}

/* ---- renewal of the session ---- */

static void send_renewal(gfc_channel *channel, gfc_type type, const void *body, size_t bytes) {
  if (gfc_channel_send(channel, type, body, bytes, NULL) != GFSMITH_OK)
    gfc_channel_fail(channel, GFSMITH_ENOMEM, "no memory to renew the key");
}

void gfc_channel_renew(gfc_channel *channel) {
  uint8_t body[GFC_RENEW_BYTES];
  if (!gfc_session_stale(&channel->session, channel->handshake))
    return;
  gfc_session_renew(&channel->session, channel->handshake, channel->rank, body);
  send_renewal(channel, GFC_RENEW, body, sizeof body);
}

/* False: the peer violates the protocol. */
static bool renew(gfc_channel *channel, const gfc_frame *frame) {
  uint8_t body[GFC_RENEWED_BYTES];
  bool change = false;
  int bytes;
  switch (frame->type) {
  case GFC_RENEW:
    bytes = gfc_session_answer(&channel->session, channel->handshake, channel->rank, frame, body);
    if (bytes >= 0)
      send_renewal(channel, GFC_RENEWED, body, (size_t)bytes);
    return bytes >= 0;
  case GFC_RENEWED:
    if (!gfc_session_answered(&channel->session, frame, &change))
      return false;
    if (change)
      send_renewal(channel, GFC_SWITCH, NULL, 0);
    return true;
  case GFC_SWITCH:
    return gfc_session_switched(&channel->session, frame);
  default:
    return false;
  }
}

static void dispatch(gfc_channel *channel, const gfc_frame *frame) {
  const gfc_handlers *handlers = channel->handlers;
  if (frame->type >= GFC_CONTROL_FIRST)
    handlers->events->control(handlers->observer, channel->rank, frame->type, frame->body,
                              frame->bytes);
  else if (frame->type == GFC_MESSAGE && frame->bytes != 0)
    message(channel, frame);
  else if (frame->type == GFC_PING && frame->bytes == 0)
    gfc_channel_send(channel, GFC_PONG, NULL, 0,
                     NULL); /* if there is no memory, the peer sends another PING */
  else if ((frame->type == GFC_CREDIT || frame->type == GFC_PONG) && frame->bytes == 0)
    return; /* the head is the whole message */
  else if (!renew(channel, frame))
    gfc_channel_fail(channel, GFSMITH_ECORRUPT,
                     "a message of type %u with %zu bytes, which has no place here", frame->type,
                     frame->bytes);
}

static void take_credits(gfc_channel *channel, unsigned credits) {
  if (credits == 0)
    return;
  if (channel->credits + credits > GFC_CREDITS) {
    gfc_channel_fail(channel, GFSMITH_ECORRUPT, "%u credits are returned that were not given",
                     credits);
    return;
  }
  channel->credits += credits;
}

static void got_frame(gfc_channel *channel, gfc_item *item, size_t bytes) {
  gfc_frame frame;
  const char *wrong = gfc_frame_read(&frame, item->buffer, bytes, &channel->session.receive);
  if (wrong != NULL) {
    gfc_channel_fail(channel, GFSMITH_ECORRUPT, "%s", wrong);
    return;
  }
  if (frame.number != channel->got) {
    gfc_channel_fail(channel, GFSMITH_ECORRUPT, "message %llu in place of %llu: %s",
                     (unsigned long long)frame.number, (unsigned long long)channel->got,
                     frame.number < channel->got ? "it is repeated or late" : "some are missing");
    return;
  }
  channel->got++;
  take_credits(channel, frame.credits);
  channel->answering = true;
  if (channel->state == GFC_UP)
    dispatch(channel, &frame);
  channel->answering = false;
  if (frame.type != GFC_CREDIT)
    owe(channel);
}

/* A write of the peer has landed. Some providers use up a receive for it, which is posted again. */
static void got_write(gfc_channel *channel, const struct fi_cq_data_entry *entry) {
  const gfc_mark *mark = entry->op_context;
  if (channel->fabric->info->mode & FI_RX_CQ_DATA && mark != NULL)
    repost(channel, mark->item);
  channel->got += counts_writes(channel);
  channel->landed++;
  owe(channel);
  channel->handlers->events->written(channel->handlers->observer, channel->rank,
                                     (uint32_t)entry->data);
}

static void got(gfc_channel *channel, const struct fi_cq_data_entry *entry) {
  if (entry->flags & FI_REMOTE_CQ_DATA && entry->flags & FI_REMOTE_WRITE) {
    channel->heard = gfc_now();
    got_write(channel, entry);
    return;
  }
  const gfc_mark *mark = entry->op_context;
  if (mark == NULL)
    return;
  if (mark->item->kind == GFC_RECEIVE) {
    channel->heard = gfc_now();
    got_frame(channel, mark->item, entry->len);
    repost(channel, mark->item);
  } else {
    completed(channel, mark->item);
  }
}

static void got_error(gfc_channel *channel) {
  struct fi_cq_err_entry error = {0};
  if (fi_cq_readerr(channel->cq, &error, 0) < 0)
    return;
  const gfc_mark *mark = error.op_context;
  bool receive = mark != NULL && mark->item->kind == GFC_RECEIVE;
  if (receive && (error.err == FI_ETRUNC || error.err == FI_EMSGSIZE || error.err == FI_ETOOSMALL))
    gfc_channel_fail(channel, GFSMITH_ECORRUPT, "a message of more than %d bytes", GFC_FRAME_MAX);
  else
    gfc_channel_fail(channel, GFSMITH_EPEER, "%s: %s",
                     receive ? "the connection is closed" : "a send or write has failed",
                     fi_strerror(error.err));
}

void gfc_channel_receive(gfc_channel *channel) {
  enum { BATCH = 16, BATCHES = 8 };
  struct fi_cq_data_entry entries[BATCH];
  channel->touched = true;
  for (unsigned batch = 0; batch < BATCHES; batch++) {
    /* Until the connection is up the provider must not read data: it does not withstand all
     * malformed input. */
    if (channel->state != GFC_UP)
      return;
    ssize_t count = fi_cq_read(channel->cq, entries, BATCH);
    if (count == -FI_EAGAIN || count == 0) {
      channel->ready = false;
      return;
    }
    if (count == -FI_EAVAIL)
      got_error(channel);
    else if (count < 0)
      gfc_channel_fail(channel, GFSMITH_EFABRIC, "fi_cq_read: %s", fi_strerror((int)-count));
    for (ssize_t i = 0; i < count && channel->state == GFC_UP; i++)
      got(channel, &entries[i]);
  }
}
