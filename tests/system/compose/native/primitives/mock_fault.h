/* The faults that the mock network causes. */
#ifndef MOCK_FAULT_H
#define MOCK_FAULT_H

typedef enum mock_fault {
  FAULT_NONE,
  FAULT_KILL,    /* a node ends */
  FAULT_LINK,    /* a link goes down and comes up again */
  FAULT_SILENT,  /* a node stops working, but its links stay up */
  FAULT_PAYLOAD, /* a byte of a write's payload is wrong */
  FAULT_TRAILER, /* a byte of a write's trailer is wrong */
  FAULT_SHORT,   /* a write's last payload bytes and its trailer do not arrive */
  FAULT_SKIP,    /* a write is omitted */
  FAULT_PLACE,   /* two slices of a transfer arrive in each other's place */
  FAULT_TURN,    /* the same, and each is reported as the slice that belongs to that place */
  FAULT_ORDER,   /* two slices arrive in the wrong order */
  FAULT_CANCEL,  /* an operation is canceled */
  FAULT_BABBLE,  /* a control message's bytes are random */
  FAULT_MEMORY,  /* links have no memory for a message or write */
  FAULTS
} mock_fault;

#endif
