/* The machines of a store, and the faults that they suffer. */
#ifndef SIMULATION_FAULTS_H
#define SIMULATION_FAULTS_H

#include "process.h"

/* A scheme with the agent's further options, and the number of chunk servers that may be without
 * their memory. */
typedef struct shape {
  const char *scheme;
  unsigned k, m, bearable;
  const char *options;
} shape;

void machines_start(const shape *s);
/* Some kinds of faults, at random times. `beyond`: more chunks of a value are damaged than the
 * code bears. */
void faults_begin(bool beyond);
void faults_end(void);
/* From now on, remember the contents of all memories from time to time. */
void faults_remember(void);
/* All processes die at once, and as many memories as the code bears have an older content. */
void faults_go_back(void);
/* As many memories are lost for good as the code bears. */
void faults_audit(void);

#endif
