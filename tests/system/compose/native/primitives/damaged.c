/* Errors that a peer makes deliberately, by NET's faults. */
#include "cases.h"
#include "faults.h"
#include "node.h"
#include "transfer.h"

/* Rank `victim` applies this fault to its output after `after` other messages or writes; the
 * sender, rank 0, and the receiver, rank 1, end with these statuses. */
static void damage(const network *net, unsigned victim, int fault, unsigned after, int sender,
                   int receiver) {
  transfer from = transfer_make(1, 10000, 100), to = transfer_make(1, 10000, 100);
  from.job.deadline_ms = to.job.deadline_ms = fault == GFC_FAULT_SILENT ? 200 : 60000;
  REQUIRE(gfsmith_node_fault(net->node[victim], fault, after) == GFSMITH_OK, "fault");
  transfer_receive(&to, net->node[1], 0, 0);
  transfer_send(&from, net->node[0], 1, 0);
  /* A damaged message may end the link before the sender posts its part; then the receiver reports
   * the link as down. */
  if (victim == 1 && sender == GFSMITH_ECORRUPT)
    REQUIRE(transfer_end_either(&from, sender, GFSMITH_EPEER) != GFSMITH_OK, "it is over");
  else
    transfer_end(&from, sender, ANY);
  /* A late fault may have no effect. */
  if (after == 1)
    transfer_end_either(&to, receiver, GFSMITH_OK);
  else
    transfer_end(&to, receiver, ANY);
  transfer_free(&from);
  transfer_free(&to);
}

/* Afterwards both work together again. */
static void again(const network *net) {
  network_wait(net, 0, 1, true);
  network_wait(net, 1, 0, true);
  transfer from = transfer_make(2, 10000, 100), to = transfer_make(2, 10000, 100);
  transfer_receive(&to, net->node[1], 0, 0);
  transfer_send(&from, net->node[0], 1, 0);
  transfer_end(&to, GFSMITH_OK, -1);
  transfer_end(&from, GFSMITH_OK, -1);
  transfer_free(&from);
  transfer_free(&to);
}

static void one_fault(const char *provider, unsigned victim, int fault, unsigned after, int sender,
                      int receiver) {
  network net;
  network_create(&net, provider, 2, 0);
  damage(&net, victim, fault, after, sender, receiver);
  if (fault != GFC_FAULT_SILENT)
    again(&net);
  network_destroy(&net);
}

void damaged_payload(const char *provider) {
  one_fault(provider, 0, GFC_FAULT_PAYLOAD, 0, GFSMITH_ECORRUPT, GFSMITH_ECORRUPT);
  one_fault(provider, 0, GFC_FAULT_PAYLOAD, 99, GFSMITH_ECORRUPT, GFSMITH_ECORRUPT);
}

void damaged_messages(const char *provider) {
  /* The receiver's grant, and its next message: that it has all data, or that it has room for more
   * messages. */
  one_fault(provider, 1, GFC_FAULT_FLIP, 0, GFSMITH_ECORRUPT, GFSMITH_EPEER);
  one_fault(provider, 1, GFC_FAULT_CUT, 0, GFSMITH_ECORRUPT, GFSMITH_EPEER);
  one_fault(provider, 1, GFC_FAULT_NUMBER, 1, GFSMITH_ECORRUPT, GFSMITH_EPEER);
  one_fault(provider, 1, GFC_FAULT_SILENT, 0, GFSMITH_ETIMEDOUT, GFSMITH_ETIMEDOUT);
}
