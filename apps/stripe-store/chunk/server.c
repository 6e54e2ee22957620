#include "server.h"

#include "common/answer.h"
#include "common/fault.h"
#include "common/report.h"

#include <stdio.h>
#include <string.h>

void server_complain(server *s, const char *what) {
  if (strcmp(s->refusal, what) == 0)
    return;
  snprintf(s->refusal, sizeof s->refusal, "%s", what);
  report("%s", what);
}

static void answer(server *s, uint64_t request, int status, int culprit, const char *reason) {
  if (request == 0)
    return;
  message m = {.type = MESSAGE_ANSWER,
               .request = request,
               .status = status,
               .epoch = s->who.epoch,
               .sink = (uint16_t)(culprit < 0 ? LAYOUT_AGENT : culprit),
               .body = (const uint8_t *)reason,
               .body_bytes = (uint32_t)strlen(reason)};
  net_send(s->net, LAYOUT_AGENT, &m); /* if it is down, it needs no answer */
}

void server_answer(server *s, uint64_t request, int status, const char *reason) {
  answer(s, request, status, -1, reason);
}

void server_answer_outcome(server *s, uint64_t request, const gfsmith_outcome *outcome) {
  answer(s, request, outcome->status, outcome->rank, outcome->reason);
}

void server_lost_kept(server *s) {
  message m = {.type = MESSAGE_GONE, .epoch = s->who.epoch};
  if (s->watch != NULL)
    event_free(s->watch);
  s->watch = NULL;
  s->identified = false;
  if (s->greeted)
    net_send(s->net, LAYOUT_AGENT, &m);
  s->greeted = false;
  s->drop_jobs(s);
  kept_disconnect(s->kept);
  server_complain(s, kept_reason(s->kept));
}

void server_answer_kept(server *s, uint64_t request, kept_status status) {
  static const int answers[] = {
      [KEPT_OK] = GFSMITH_OK,
      [KEPT_MISSING] = ANSWER_MISSING,
      [KEPT_DAMAGED] = ANSWER_MISSING,
      [KEPT_FULL] = ANSWER_FULL,
      [KEPT_TOO_LARGE] = ANSWER_TOO_LARGE,
      [KEPT_GONE] = ANSWER_NO_STORE,
  };
  server_answer(s, request, answers[status], status == KEPT_OK ? "" : kept_reason(s->kept));
  if (status == KEPT_GONE)
    server_lost_kept(s);
}

static void on_done(void *owner, const kept_ticket *ticket, kept_status status) {
  if (ticket->point != NULL)
    (void)fault_point(ticket->point);
  server_answer_kept(owner, ticket->request, status);
}

kept_ticket server_ticket(uint64_t request, const char *point) {
  return (kept_ticket){on_done, request, point};
}
