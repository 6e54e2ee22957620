/* The operations of the clients, and the search for an order that explains them. */
#ifndef SIMULATION_HISTORY_H
#define SIMULATION_HISTORY_H

#include "contents.h"

typedef enum verb {
  GET,
  SET,
  ADD,
  CAS,
  DELETE,
  REPLACE,
  APPEND,
  PREPEND,
  INCR,
  DECR,
  TOUCH,
  FLUSH, /* of all keys */
  EXPIRE /* of the value whose time another operation has set, if it still has that time */
} verb;
typedef enum outcome {
  UNKNOWN,  /* it may take effect at any later time */
  DONE,     /* answered: GET with `value`, the others with their effect */
  NOT_DONE, /* answered: no effect, because of the key's state */
  NOTHING   /* NOT_DONE, because the key has no value; an add has one then */
} outcome;

enum { EVERY_KEY = -1 };

typedef struct operation {
  int key; /* or EVERY_KEY */
  verb verb;
  content value;    /* written or read; 0: none */
  content expected; /* compared by CAS */
  uint64_t number;  /* of INCR and DECR: added or subtracted; the result */
  uint64_t result;
  int64_t exptime; /* as sent */
  uint64_t when;   /* EXPIRE: `called` of the operation that has set the time */
  outcome outcome;
  uint64_t called, answered; /* order of all such moments */
  bool refused;              /* it never takes effect */
  struct operation *next;
} operation;

/* The moment of the last event. */
uint64_t history_moment(void);
/* Begin an operation, with `called`. It belongs to the history unless it is refused. */
operation *history_begin(operation o);
/* Set `answered`. */
void history_end(operation *o, outcome outcome);
/* Writes of a key without a known outcome. */
unsigned history_unknown(int key);
/* Fail the seed unless each key is linearizable. */
void history_check(int keys);

#endif
