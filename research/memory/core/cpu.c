/* cpu.c: the caches of one core and the prefetcher of its second level. */
#include "model.h"

#include <stdlib.h>

static mm_time later(mm_time a, mm_time b) { return a > b ? a : b; }

static bool cache_create(mm_cache *cache, uint64_t sets, uint64_t ways) {
  *cache = (mm_cache){.sets = sets, .ways = ways};
  cache->held = calloc(sets * ways, sizeof(uint64_t));
  cache->entry = calloc(sets * ways, sizeof(mm_entry));
  return cache->held != NULL && cache->entry != NULL;
}

static mm_entry *cache_find(mm_cache *cache, uint64_t line) {
  uint64_t set = line % cache->sets * cache->ways;
  for (uint64_t n = set; n < set + cache->ways; n++)
    if (cache->held[n] == line + 1) {
      cache->entry[n].stamp = ++cache->clock;
      return &cache->entry[n];
    }
  return NULL;
}

/* Insert a line and return its entry. *out is the replaced entry, *gone its line + 1, or 0. */
static mm_entry *cache_insert(mm_cache *cache, uint64_t line, mm_time ready, mm_entry *out,
                              uint64_t *gone) {
  uint64_t set = line % cache->sets * cache->ways, victim = set;
  for (uint64_t n = set; n < set + cache->ways; n++) {
    if (cache->held[n] == 0) {
      victim = n;
      break;
    }
    if (cache->entry[n].stamp < cache->entry[victim].stamp)
      victim = n;
  }
  *out = cache->entry[victim];
  *gone = cache->held[victim];
  cache->held[victim] = line + 1;
  cache->entry[victim] = (mm_entry){.ready = ready, .stamp = ++cache->clock};
  return &cache->entry[victim];
}

bool mm_cpu_create(mm_cpu *c, const mm_params *p, mm_device *d, mm_counts *counts) {
  *c = (mm_cpu){.p = p, .device = d, .counts = counts};
  bool one = cache_create(&c->l1, p->l1_sets, p->l1_ways);
  bool two = cache_create(&c->l2, p->l2_sets, p->l2_ways);
  c->stream = calloc(p->streams + 1, sizeof *c->stream);
  c->fill = calloc(p->fill_buffers, sizeof *c->fill);
  c->queue = calloc(p->superqueue, sizeof *c->queue);
  return one && two && c->stream != NULL && c->fill != NULL && c->queue != NULL;
}

void mm_cpu_destroy(mm_cpu *c) {
  free(c->l1.held);
  free(c->l1.entry);
  free(c->l2.held);
  free(c->l2.entry);
  free(c->stream);
  free(c->fill);
  free(c->queue);
}

/* The place that becomes free first. */
static mm_time *soonest(mm_time *place, uint64_t count) {
  mm_time *best = place;
  for (mm_time *at = place + 1; at < place + count; at++)
    if (*at < *best)
      best = at;
  return best;
}

static mm_entry *second_level(mm_cpu *c, uint64_t line, mm_time ready) {
  mm_entry out;
  uint64_t gone;
  mm_entry *in = cache_insert(&c->l2, line, ready, &out, &gone);
  c->counts->useless += gone != 0 && out.prefetched;
  return in;
}

/* ---- the stream prefetcher ---- */

static mm_stream *stream_of(mm_cpu *c, uint64_t page, int offset) {
  mm_stream *oldest = c->stream;
  c->clock++;
  for (mm_stream *s = c->stream; s < c->stream + c->p->streams; s++) {
    if (s->valid && s->page == page) {
      s->stamp = c->clock;
      return s;
    }
    if (s->stamp < oldest->stamp)
      oldest = s;
  }
  *oldest =
      (mm_stream){.page = page, .stamp = c->clock, .last = offset, .ahead = offset, .valid = true};
  return NULL;
}

/* The largest distance of prefetches from the core's access, which grows with confidence. */
static int distance(const mm_params *p, int confidence) {
  int surplus = confidence - (int)p->trigger;
  int far = 1 + surplus / (int)p->growth;
  return surplus < 0 ? 0 : far < (int)p->reach ? far : (int)p->reach;
}

static void ask(mm_cpu *c, mm_stream *s, mm_time now) {
  int far = distance(c->p, s->confidence);
  for (uint64_t n = 0; n < c->p->degree; n++) {
    int behind = (s->ahead - s->last) * s->direction;
    int next = (behind < 0 ? s->last : s->ahead) + s->direction;
    if ((next - s->last) * s->direction > far || next < 0 || next >= (int)PAGE_LINES)
      return;
    uint64_t line = s->page * PAGE_LINES + (uint64_t)next;
    if (cache_find(&c->l2, line) == NULL) {
      mm_time *place = soonest(c->queue, c->p->superqueue);
      if (*place > now) {
        c->counts->dropped++;
        return;
      }
      c->counts->hardware++;
      *place = mm_device_read(c->device, line << LINE_SHIFT, now);
      second_level(c, line, *place)->prefetched = true;
    }
    s->ahead = next;
  }
}

/* Handle a core's access that reached the second level. A line nearer than the last one, or farther
 * away than `reach`, is not a step of a stream, and the stream loses confidence. */
static void train(mm_cpu *c, uint64_t line, mm_time now) {
  if (c->p->streams == 0)
    return;
  int offset = (int)(line % PAGE_LINES);
  mm_stream *s = stream_of(c, line / PAGE_LINES, offset);
  if (s == NULL || s->last == offset)
    return;
  int step = offset - s->last, direction = step > 0 ? 1 : -1;
  bool follows = direction == s->direction && step * direction <= (int)c->p->reach;
  s->confidence = follows ? s->confidence + 1 : 1;
  if (direction != s->direction)
    s->ahead = offset;
  s->direction = direction;
  s->last = offset;
  ask(c, s, now);
}

/* ---- accesses of the core ---- */

static mm_time from_memory(mm_cpu *c, uint64_t line, int kind, mm_time at) {
  mm_time *place = soonest(c->queue, c->p->superqueue);
  bool software = kind == MM_PREFETCH || kind == MM_PREFETCH_SECOND;
  *(software ? &c->counts->software : &c->counts->demand) += 1;
  mm_time ready = mm_device_read(c->device, line << LINE_SHIFT, later(at, *place));
  *place = ready;
  return ready;
}

mm_time mm_cpu_access(mm_cpu *c, uint64_t line, int kind, mm_time at, mm_time *begun) {
  mm_entry out;
  uint64_t gone;
  mm_entry *first = cache_find(&c->l1, line);
  *begun = at;
  if (first != NULL) {
    return later(at + c->p->l1_hit * c->p->cycle, first->ready);
  }
  mm_time *place = soonest(c->fill, c->p->fill_buffers);
  mm_time start = *begun = later(at, *place);
  mm_entry *second = cache_find(&c->l2, line);
  mm_time ready;
  if (second != NULL) {
    c->counts->useful += second->prefetched;
    second->prefetched = false;
    ready = later(start + c->p->l2_hit * c->p->cycle, second->ready);
  } else {
    ready = from_memory(c, line, kind, start);
    second_level(c, line, ready);
  }
  *place = ready;
  if (kind == MM_STORE) /* the line is written back once */
    mm_device_write(c->device, line << LINE_SHIFT, ready);
  if (kind != MM_PREFETCH_SECOND)
    cache_insert(&c->l1, line, ready, &out, &gone);
  train(c, line, start);
  return ready;
}

mm_time mm_cpu_stream(mm_cpu *c, uint64_t line, mm_time at) {
  mm_time *place = soonest(c->fill, c->p->fill_buffers);
  mm_time start = later(at, *place);
  *place = mm_device_write(c->device, line << LINE_SHIFT, start);
  return start;
}

/* Count prefetched lines without an access as useless. */
void mm_cpu_finish(mm_cpu *c) {
  for (uint64_t n = 0; n < c->l2.sets * c->l2.ways; n++)
    c->counts->useless += c->l2.held[n] != 0 && c->l2.entry[n].prefetched;
}
