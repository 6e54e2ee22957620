/* One client: lines and values in, answers out, one command at a time, in order. */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "agent.h"
#include "parse.h"

#include <event2/bufferevent.h>

typedef enum client_state {
  CLIENT_LINE,    /* a command line comes next */
  CLIENT_VALUE,   /* the value that belongs to it */
  CLIENT_SWALLOW, /* a value that is refused */
  CLIENT_BUSY     /* the command runs */
} client_state;

typedef struct client {
  agent *agent;
  struct bufferevent *stream; /* NULL: the client is gone, its command still runs */
  client_state state;
  bool going_on; /* client_go_on is on the stack */
  bool quits;    /* hang up when the answers are sent */
  char *line;    /* what `request` points into */
  request request;
  stripe *value;
  size_t filled; /* bytes of the value that are there; of a refused one, that are left */
  struct client *prev, *next;
} client;

/* Listen; false, with a message. `where` is then the address that clients connect to. */
bool clients_listen(agent *a, const char *host, unsigned short port, char where[80]);
void clients_close(agent *a);

/* A line for the client, unless it wants none; its end is added. */
void client_answer(client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The value of a key, for get and gets. It is the client's then. */
void client_send_value(client *c, const record *r, stripe *value);
/* The command is over. */
void client_over(client *c);
/* No more commands: hang up when the answers are sent. */
void client_quit(client *c);

/* command.c: run the request, whose value has arrived; it ends with client_over. */
void command_run(client *c);

/* stats.c */
void stats_answer(client *c);

#endif
