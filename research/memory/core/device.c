/* device.c: channels of memory. Each has media, which may be busy, and a small buffer of their
 * lines. */
#include "model.h"

#include <stdlib.h>

bool mm_device_create(mm_device *d, const mm_params *p, mm_counts *counts) {
  *d = (mm_device){.p = p, .counts = counts, .clock = 1};
  d->channel = calloc(p->channels, sizeof *d->channel);
  bool good = d->channel != NULL;
  for (uint64_t c = 0; good && c < p->channels && p->buffer > 0; c++) {
    d->channel[c].held = calloc(p->buffer, sizeof(uint64_t));
    d->channel[c].entry = calloc(p->buffer, sizeof(mm_buffered));
    good = d->channel[c].held != NULL && d->channel[c].entry != NULL;
  }
  return good;
}

void mm_device_destroy(mm_device *d) {
  for (uint64_t c = 0; d->channel != NULL && c < d->p->channels; c++) {
    free(d->channel[c].held);
    free(d->channel[c].entry);
  }
  free(d->channel);
}

static mm_channel *channel_of(mm_device *d, uint64_t address) {
  return &d->channel[address / d->p->interleave % d->p->channels];
}

static mm_time later(mm_time a, mm_time b) { return a > b ? a : b; }

/* The start of media work of duration `work` that is requested at `at`. */
static mm_time reserve(const mm_params *p, mm_channel *c, mm_time at, mm_time work) {
  mm_time left = work, end = at;
  for (uint64_t slot = at / p->read; left > 0; slot++) {
    uint64_t n = slot % SLOTS;
    if (c->slot[n] != slot) {
      c->slot[n] = slot;
      c->used[n] = 0;
    }
    mm_time room = p->read - c->used[n], taken = left < room ? left : room;
    c->used[n] += taken;
    left -= taken;
    end = slot * p->read + c->used[n];
  }
  return later(at, end > work ? end - work : 0);
}

/* The time at which a line of the media arrives in the buffer. */
static mm_time fetch(mm_device *d, mm_channel *c, mm_time at) {
  d->counts->media++;
  return reserve(d->p, c, at, d->p->read) + d->p->latency - d->p->hit;
}

/* The place of a line's entry; otherwise a free place, otherwise the place of the oldest entry. */
static uint64_t place_of(const mm_params *p, const mm_channel *c, uint64_t line) {
  uint64_t unused = p->buffer;
  for (uint64_t n = 0; n < p->buffer; n++) {
    if (c->held[n] == line + 1)
      return n;
    if (c->held[n] == 0)
      unused = n;
  }
  if (unused < p->buffer)
    return unused;
  uint64_t oldest = 0;
  for (uint64_t n = 1; n < p->buffer; n++)
    if (c->entry[n].stamp < c->entry[oldest].stamp)
      oldest = n;
  return oldest;
}

/* Each piece of 64 bytes is read from the buffer once: then the caches have it, and the buffer
 * drops it. */
mm_time mm_device_read(mm_device *d, uint64_t address, mm_time at) {
  mm_channel *c = channel_of(d, address);
  uint64_t line = address / d->p->line;
  uint64_t piece = UINT64_C(1) << (address % d->p->line >> LINE_SHIFT);
  if (d->p->buffer == 0)
    return fetch(d, c, at) + d->p->hit;
  uint64_t n = place_of(d->p, c, line);
  mm_buffered *e = &c->entry[n];
  if (c->held[n] == line + 1 && (e->left & piece) != 0) {
    d->counts->hits++;
    if (d->p->lru)
      e->stamp = ++d->clock;
  } else {
    c->held[n] = line + 1;
    uint64_t whole = (UINT64_C(2) << ((d->p->line >> LINE_SHIFT) - 1)) - 1;
    *e = (mm_buffered){.ready = fetch(d, c, at), .stamp = ++d->clock, .left = whole};
  }
  e->left &= ~piece;
  if (e->left == 0)
    c->held[n] = 0;
  return later(at, e->ready) + d->p->hit;
}

/* Up to `queue` lines wait for the media without delaying the core. */
mm_time mm_device_write(mm_device *d, uint64_t address, mm_time at) {
  mm_time slack = d->p->queue * d->p->write;
  mm_time start = reserve(d->p, channel_of(d, address), at, d->p->write);
  d->counts->written++;
  return start > at + slack ? start - slack : at;
}
