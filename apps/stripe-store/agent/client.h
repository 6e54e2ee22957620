/* A client: lines and values are received, answers are sent; one command at a time, in order. */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "agent.h"
#include "parse.h"
#include "stripe.h"

#include <event2/bufferevent.h>

typedef enum client_state {
  CLIENT_LINE,    /* a command line is expected */
  CLIENT_VALUE,   /* the value of the command is expected */
  CLIENT_SWALLOW, /* a refused value is discarded */
  CLIENT_BUSY     /* a command runs */
} client_state;

/* The progress of bytes in one direction. */
typedef struct pace {
  uint64_t
      since_ms; /* since then, fewer than PACE bytes (client.c) have followed the first `moved` */
  uint64_t moved;
} pace;

typedef struct client {
  agent *agent;
  struct bufferevent *stream; /* NULL: the client has disconnected, its command still runs */
  client_state state;
  uint64_t since_ms; /* the time of the connection */
  pace arrival;      /* of a value, or a line that counts */
  pace departure;    /* of answers */
  uint64_t answered; /* bytes of all answers */
  bool encrypted;    /* with TLS */
  bool shakes;       /* the handshake of TLS is not over */
  bool ended;        /* it sends nothing more */
  bool going_on;     /* client_go_on is on the stack */
  bool known;        /* it has authenticated itself, or need not */
  bool quits;        /* add no answers; close when those before have been sent */
  void (*waits)(
      struct client *c); /* continues the command when answers have been sent; NULL: none */
  char *line;            /* the line to which the pointers in `request` refer; NULL: none */
  size_t charged;        /* memory that counts for this line, or for the beginning of the next */
  size_t searched;       /* bytes of the input that have no end of a line */
  request request;
  stripe *value;
  const char *answer; /* of the command, while it is confirmed */
  bool missed;        /* a key of get or gets has no value */
  size_t filled; /* bytes of the value received so far; of a refused value, bytes still expected */
  struct client *prev, *next;
} client;

/* Listen. False: failed, with a message. `where`: the address for clients. */
bool clients_listen(agent *a, const char *host, unsigned short port, char where[80]);
/* Listen on FILES_LOCAL in the folder, for programs of the same user. False: failed, with a
 * message. */
bool clients_listen_local(agent *a);
void clients_close(agent *a);
/* Accept clients again after an error, and close those whose handshake or login takes too long. To
 * be called now and then. */
void clients_tick(agent *a);

/* Send a line with its line end to the client, unless it requested none. */
void client_answer(client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Send the value of a key, for get and gets. Takes over the value. */
void client_send_value(client *c, const record *r, stripe *value);
/* Continue the command with go_on(c): at once, or, while many bytes wait to be sent, later. go_on
 * must end the command if the client is no longer there (client_is_gone). */
void client_when_sent(client *c, void (*go_on)(client *c));
bool client_is_gone(const client *c);
/* The command has ended. */
void client_over(client *c);
/* Accept no more commands, and close when the answers have been sent. */
void client_quit(client *c);

#endif
