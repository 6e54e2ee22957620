/* What a connection gets. Nothing of it is believed before it is checked. */
#include <rdma/fi_endpoint.h>
#include <string.h>

#include "connection.h"
#include "engine.h"

int gfc_post_receive(gfc_connection *connection, gfc_item *item) {
  ssize_t status = fi_recv(connection->ep, item->buffer, GFC_FRAME_MAX,
                           connection->registered.descriptor, FI_ADDR_UNSPEC, &item->mark[0]);
  connection->touched = true;
  return (int)status;
}

static void repost(gfc_connection *connection, gfc_item *item) {
  if (connection->state == GFC_DOWN)
    return;
  int status = gfc_post_receive(connection, item);
  if (status != 0)
    gfc_doom(connection, GFSMITH_EFABRIC, "fi_recv: %s", fi_strerror(-status));
}

/* The peer has used a credit. */
static void owe(gfc_connection *connection) {
  connection->owed++;
  gfc_return_credits(connection);
}

static void message(gfc_connection *connection, const gfc_frame *frame) {
  gfc_engine *engine = connection->engine;
  if (engine->message_handler != NULL)
    engine->message_handler(engine->handler_context, connection->peer->rank, frame->body,
                            frame->bytes);
}

static void dispatch(gfc_connection *connection, const gfc_frame *frame) {
  gfc_engine *engine = connection->engine;
  if (frame->type >= GFC_CONTROL_FIRST)
    engine->upper->control(engine->above, connection->peer->rank, frame->type, frame->body,
                           frame->bytes);
  else if (frame->type == GFC_MESSAGE && frame->bytes != 0)
    message(connection, frame);
  else if (frame->type == GFC_PING && frame->bytes == 0)
    gfc_enqueue(connection, GFC_PONG, NULL, 0, NULL); /* without memory: the peer asks again */
  else if (!(frame->type == GFC_CREDIT || frame->type == GFC_PONG) || frame->bytes != 0)
    gfc_doom(connection, GFSMITH_ECORRUPT,
             "a message of type %u with %zu bytes, which has no place here", frame->type,
             frame->bytes);
}

static void take_credits(gfc_connection *connection, unsigned credits) {
  if (credits == 0)
    return;
  if (connection->credits + credits > GFC_CREDITS) {
    gfc_doom(connection, GFSMITH_ECORRUPT, "%u credits are returned that were not given", credits);
    return;
  }
  connection->credits += credits;
}

static void got_frame(gfc_connection *connection, gfc_item *item, size_t bytes) {
  gfc_frame frame;
  const char *wrong = gfc_frame_read(&frame, item->buffer, bytes);
  if (wrong != NULL) {
    gfc_doom(connection, GFSMITH_ECORRUPT, "%s", wrong);
    return;
  }
  if (frame.sequence != connection->got) {
    gfc_doom(connection, GFSMITH_ECORRUPT, "message %u in place of %u", frame.sequence,
             connection->got);
    return;
  }
  connection->got++;
  take_credits(connection, frame.credits);
  if (connection->state == GFC_UP)
    dispatch(connection, &frame);
  if (frame.type != GFC_CREDIT)
    owe(connection);
}

/* A write of the peer has landed; the receive that some providers spend on that is posted anew. */
static void got_write(gfc_connection *connection, const struct fi_cq_data_entry *entry) {
  gfc_engine *engine = connection->engine;
  const gfc_mark *mark = entry->op_context;
  if (engine->fabric.info->mode & FI_RX_CQ_DATA && mark != NULL)
    repost(connection, mark->item);
  owe(connection);
  engine->upper->written(engine->above, connection->peer->rank, (uint32_t)entry->data);
}

static void got(gfc_connection *connection, const struct fi_cq_data_entry *entry) {
  if (entry->flags & FI_REMOTE_CQ_DATA && entry->flags & FI_REMOTE_WRITE) {
    connection->heard = gfc_now();
    got_write(connection, entry);
    return;
  }
  const gfc_mark *mark = entry->op_context;
  if (mark == NULL)
    return;
  if (mark->item->kind == GFC_RECEIVE) {
    connection->heard = gfc_now();
    got_frame(connection, mark->item, entry->len);
    repost(connection, mark->item);
  } else {
    gfc_completed(connection, mark->item);
  }
}

static void got_error(gfc_connection *connection) {
  struct fi_cq_err_entry error = {0};
  if (fi_cq_readerr(connection->cq, &error, 0) < 0)
    return;
  const gfc_mark *mark = error.op_context;
  bool receive = mark != NULL && mark->item->kind == GFC_RECEIVE;
  if (receive && (error.err == FI_ETRUNC || error.err == FI_EMSGSIZE || error.err == FI_ETOOSMALL))
    gfc_doom(connection, GFSMITH_ECORRUPT, "a message of more than %d bytes", GFC_FRAME_MAX);
  else
    gfc_doom(connection, GFSMITH_EPEER, "%s: %s",
             receive ? "the connection is gone" : "what was sent did not get there",
             fi_strerror(error.err));
}

void gfc_receive(gfc_connection *connection) {
  enum { BATCH = 16, BATCHES = 8 };
  struct fi_cq_data_entry entries[BATCH];
  connection->touched = true;
  for (unsigned batch = 0; batch < BATCHES; batch++) {
    /* Before it is up the provider must not read what comes: it is not proof against everybody. */
    if (connection->state != GFC_UP)
      return;
    ssize_t count = fi_cq_read(connection->cq, entries, BATCH);
    if (count == -FI_EAGAIN || count == 0) {
      connection->ready = false;
      return;
    }
    if (count == -FI_EAVAIL)
      got_error(connection);
    else if (count < 0)
      gfc_doom(connection, GFSMITH_EFABRIC, "fi_cq_read: %s", fi_strerror((int)-count));
    for (ssize_t i = 0; i < count && connection->state == GFC_UP; i++)
      got(connection, &entries[i]);
  }
}
