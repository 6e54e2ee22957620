/* The machines of a store, and the faults that they suffer. */
#ifndef SIMULATION_FAULTS_H
#define SIMULATION_FAULTS_H

#include "process.h"

/* A scheme, and the number of chunk servers that may lose their memory. */
typedef struct shape {
  const char *scheme;
  unsigned k, m, l, r, slice, bearable;
} shape;

void machines_start(const shape *s);
/* Some kinds of faults, at random times. */
void faults_begin(void);
void faults_end(void);

#endif
