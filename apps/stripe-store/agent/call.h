/* A call: a request to several chunk servers, and perhaps a local operation. */
#ifndef STORE_CALL_H
#define STORE_CALL_H

#include "agent.h"
#include "stripe.h"

typedef struct result {
  int status;       /* GFSMITH_OK, or the status of the first failure */
  uint64_t done;    /* ranks that have answered that they have done their part */
  uint64_t missing; /* ranks that do not have their chunk */
  uint64_t unable;  /* ranks that cannot take part; the next try avoids them */
  uint64_t accused; /* ranks that others could not reach: perhaps because these wait themselves */
  char reason[AGENT_REASON];
} result;

typedef struct call call;
typedef void call_done(void *owner, const result *r);

/* Begin a call. `done` is called once, from the loop, after call_go, at the deadline at the latest.
 * NULL: no memory, and `done` is not called. A local operation that failed may end later; its
 * resources are kept until then. */
call *call_begin(agent *a, unsigned ms, call_done *done, void *owner);
void call_hold(call *c, stripe *used);
/* The call is over when the local operation has succeeded: the requested data are then present.
 * Outstanding answers are not awaited. */
void call_ours(call *c);
uint64_t call_id(const call *c);
/* The deadline of the local operation: it ends first, so that the chunk servers without an answer
 * are known. */
unsigned call_limit(const call *c);
/* Send a request, unless the call has failed; epoch, request and deadline are filled in. */
void call_ask(call *c, uint16_t rank, message *m);
/* The same for all chunk servers, also if the call has failed. */
void call_ask_all(call *c, message *m);
/* The notice of the local operation; pass its status afterwards. False: no memory; the call has
 * failed. */
bool call_notice(call *c, gfsmith_notice *notice);
void call_posted(call *c, const gfsmith_notice *notice, int status);
void call_go(call *c);
/* Handle an answer. */
void call_answer(agent *a, uint16_t rank, const message *m);
void call_lost(agent *a, uint16_t rank, const char *why);
void calls_let_go(agent *a);
void calls_free(agent *a);

#endif
