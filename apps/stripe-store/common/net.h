/* A gfsmith_node in a libevent loop: events of its engine's thread become calls from the loop, in
 * order. All functions are for the loop's thread. */
#ifndef STORE_NET_H
#define STORE_NET_H

#include "keys.h"
#include "message.h"
#include "trace.h"

#include <event2/event.h>

typedef struct net net;

typedef struct net_events {
  void (*link)(void *owner, uint16_t rank, bool up);
  void (*message)(void *owner, uint16_t rank,
                  const message *m);        /* body is valid during the call only */
  void (*lost)(void *owner, uint16_t rank); /* messages of this peer were lost: no memory */
  void *owner;
} net_events;

typedef struct net_options {
  uint16_t rank;
  const char *host; /* numeric address to listen on */
  uint16_t port;    /* 0: any */
  const keys *keys;
  const char *provider; /* NULL: the default */
  unsigned deadline_ms;
  trace *trace; /* NULL: none; must outlive the net */
} net_options;

/* False: failed, with the reason (GFSMITH_REASON_MAX bytes). */
bool net_open(net **out, struct event_base *base, const net_options *options,
              const net_events *events, char *reason);
/* Cancel posted operations; their outcomes are not reported. */
void net_close(net *n);

/* Replace the keys, as gfsmith_node_rekey. */
int net_rekey(net *n, const keys *k);

gfsmith_node *net_node(net *n);
/* GFSMITH_OK, or the result of gfsmith_node_send. */
int net_send(net *n, uint16_t rank, const message *m);

typedef void net_over(void *owner, const gfsmith_outcome *outcome);
/* Make a notice for posting an operation: `over` is called from the loop, once; *operation must be
 * released after that. The notice of an operation that was not posted must be dropped. False: no
 * memory. */
bool net_notice(net *n, gfsmith_notice *notice, net_over *over, void *owner,
                gfsmith_operation **operation);
void net_drop(const gfsmith_notice *notice);

#endif
