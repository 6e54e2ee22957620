#include "triggers.h"

#include <rdma/fi_domain.h>
#include <stdlib.h>
#include <string.h>

bool gfc_forwards(const gfsmith_operation *operation) {
  if (!operation->all->triggers || operation->by_hand || operation->receives == 0 ||
      operation->ends == operation->receives)
    return false;
  for (unsigned n = operation->receives; n < operation->ends; n++) {
    int same = operation->shard[operation->inputs + operation->end[n].index].same;
    if (same < (int)operation->locals)
      return false;
  }
  return true;
}

static gfc_counter *open_counter(gfc_operations *all) {
  struct fi_cntr_attr attributes = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
  gfc_counter *counter = calloc(1, sizeof *counter);
  if (counter == NULL ||
      fi_cntr_open(gfc_domain(all->engine), &attributes, &counter->fid, NULL) != 0) {
    free(counter);
    return NULL; /* the engine sends instead */
  }
  return counter;
}

struct fid_cntr *gfc_trigger_arm(gfc_end *end) {
  gfc_operations *all = end->operation->all;
  if (!end->operation->forwards)
    return NULL;
  end->counter = all->counters;
  if (end->counter != NULL)
    LL_DELETE(all->counters, end->counter);
  else
    end->counter = open_counter(all);
  return end->counter != NULL ? end->counter->fid : NULL;
}

const gfc_end *gfc_trigger_of(const gfc_end *end) {
  const gfsmith_operation *operation = end->operation;
  if (!operation->forwards)
    return NULL;
  unsigned same = (unsigned)operation->shard[operation->inputs + end->index].same;
  const gfc_end *source = &operation->end[same - operation->locals];
  return source->counter != NULL ? source : NULL;
}

/* `sockets` compares the threshold of a write with the counter and then puts the write on the list
 * of the counter, without a lock around both: a write that is posted while its slice lands is not
 * noticed until the counter changes again. At this point the write is on the list, or will find the
 * counter at its new value; adding 0 makes the provider check the list. */
void gfc_trigger_landed(const gfc_end *end) {
  if (end->counter != NULL)
    fi_cntr_add(end->counter->fid, 0);
}

static bool has_sender(const gfsmith_operation *operation, const gfc_transfer_key *key) {
  for (unsigned n = operation->receives; n < operation->ends; n++) {
    if (memcmp(&operation->end[n].key, key, sizeof *key) == 0)
      return true;
  }
  return false;
}

/* If several receivers get the same input, those that have not answered yet may see slices without
 * trailers. They have been refused too, so only the reason that they report differs. */
void gfc_triggers_flush(gfc_operations *all, const gfc_transfer_key *key) {
  gfsmith_operation *operation;
  DL_FOREACH(all->list, operation) {
    if (operation->phase != GFC_ENDING || !operation->forwards || !has_sender(operation, key))
      continue;
    for (unsigned j = 0; j < operation->receives; j++) {
      if (operation->end[j].counter != NULL)
        fi_cntr_add(operation->end[j].counter->fid, operation->slices);
    }
  }
}

/* `sockets` reports a write first and counts it afterwards, if its registration still exists.
 * Therefore the registration remains until the operation is over; a counter without the expected
 * value is not reused. */
void gfc_triggers_close(gfsmith_operation *operation) {
  gfc_operations *all = operation->all;
  for (unsigned j = 0; j < operation->receives; j++) {
    gfc_end *end = &operation->end[j];
    gfc_counter *counter = end->counter;
    if (counter == NULL)
      continue;
    end->counter = NULL;
    if (fi_cntr_read(counter->fid) == operation->slices) {
      gfc_unregister(&end->trailers);
      fi_cntr_set(counter->fid, 0);
      LL_PREPEND(all->counters, counter);
    } else {
      counter->trailers = end->trailers;
      LL_PREPEND(all->retired, counter);
    }
  }
}

static void free_counters(gfc_counter *list) {
  gfc_counter *counter, *next;
  LL_FOREACH_SAFE(list, counter, next) {
    gfc_unregister(&counter->trailers);
    fi_close(&counter->fid->fid);
    free(counter);
  }
}

void gfc_triggers_free(gfc_operations *all) {
  free_counters(all->counters);
  free_counters(all->retired);
}
