/* The operations of the clients, and the search for an order that explains them. */
#ifndef SIMULATION_HISTORY_H
#define SIMULATION_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum verb { GET, SET, ADD, CAS, DELETE } verb;
typedef enum outcome {
  UNKNOWN,  /* it may take effect at any later time */
  DONE,     /* answered: GET with `value`, the others with their effect */
  NOT_DONE, /* answered: no effect, because of the key's state */
  NOTHING   /* NOT_DONE, because the key has no value; an add has one then */
} outcome;

/* Values are numbers that are written once; 0: no value. */
typedef struct operation {
  unsigned key;
  verb verb;
  uint64_t value, expected; /* written or read; compared by CAS */
  outcome outcome;
  uint64_t called, answered; /* order of all such moments */
  bool refused;              /* it never takes effect */
  struct operation *next;
} operation;

/* Begin an operation, with `called`. It belongs to the history unless it is refused. */
operation *history_begin(operation o);
/* Set `answered`. */
void history_end(operation *o, outcome outcome);
/* Writes of a key without a known outcome. */
unsigned history_unknown(unsigned key);
/* Fail the seed unless each key is linearizable. */
void history_check(unsigned keys);

#endif
