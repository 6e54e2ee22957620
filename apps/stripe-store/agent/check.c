#include "check.h"

#include "read.h"
#include "recover.h"

#include <string.h>

/* Are there still enough chunks that were not found damaged? Or is that unknown? */
static bool may_be_read(agent *a, const entry *e) {
  unsigned turn = index_turn(a, e->record.key, e->record.key_bytes);
  int status = index_readable(a, turn, layout_at(a->layout, turn, e->have));
  return status == GFSMITH_OK || status == GFSMITH_ENOMEM;
}

static void on_read(void *owner, stripe *value, const char *reason) {
  agent *a = owner;
  const entry *e = recover_doubt(a);
  bool read = value != NULL;
  stripe_free(value);
  uint64_t version = a->checked;
  a->checked = 0;
  if (e == NULL || e->record.version != version || (!read && reason == NULL))
    return; /* recovery has begun again in the meantime */
  if (read)
    recover_readable(a);
  else if (may_be_read(a, e) && strcmp(reason, read_damaged) != 0)
    recover_unchecked(a);
  else
    recover_unreadable(a);
  check_next(a);
}

void check_next(agent *a) {
  const entry *e = recover_doubt(a);
  if (e == NULL || a->checked != 0)
    return;
  a->checked = e->record.version;
  read_begin(a, e, on_read, a);
}
