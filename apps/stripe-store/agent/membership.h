/* Chunk servers that connect, send their lists, stop answering and disconnect; the forming of a
 * group of new chunk servers. */
#ifndef STORE_MEMBERSHIP_H
#define STORE_MEMBERSHIP_H

#include "agent.h"

void membership_link(agent *a, uint16_t rank, bool up);
void membership_hello(agent *a, uint16_t rank, const message *m);
void membership_listed(agent *a, uint16_t rank, const message *m);
/* Its memcached is down. */
void membership_gone(agent *a, uint16_t rank, const char *why);
/* There was no answer within the deadline. */
void membership_silent(agent *a, uint16_t rank);
/* It may have chunks or records that are not in the index: it sends its list again. */
void membership_unsure(agent *a, uint16_t rank);
/* The agent has begun an epoch: all chunk servers are welcomed again. */
void membership_renew(agent *a);
/* There was no memory for a message from it. */
void membership_lost(agent *a, uint16_t rank);
void membership_tick(agent *a);
/* Continue activities that wait for more chunk servers: completing the index, synchronization. */
void membership_advance(agent *a);

#endif
