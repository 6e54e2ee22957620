/* The two ends of a transfer: the receiving end grants memory and checks the slices that land
 * there; the sending end writes slices into granted memory. */
#ifndef GFC_TRANSFER_H
#define GFC_TRANSFER_H

#include "operation.h"

/* The end of a running operation, or NULL. */
gfc_end *gfc_end_find(gfc_operations *all, const gfc_transfer_key *key);

/* Grant memory to the peer of a receiving end, as soon as there is a link. */
void gfc_receive_ask(gfc_end *end);
/* A write of the peer reports that slice s has landed: check it. */
void gfc_receive_landed(gfc_end *end, size_t s);
/* The peer cannot write any more: release slot and registrations. */
void gfc_receive_close(gfc_end *end);

/* The peer of a sending end has granted memory. */
void gfc_send_granted(gfc_end *end, const gfc_grant *grant);
/* Post the writes that are possible now. */
void gfc_send_push(gfc_end *end);
/* A write is over. */
void gfc_send_over(gfc_end *end, int status);

#endif
