#include "par2_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "medium.h"
#include "output.h"
#include "par2_hash.h"
#include "report.h"

enum { FILTER_BITS = 1 << 18 };
/* The bytes that may be hashed in vain: this many, a multiple of all searched positions, and four
 * times as many as by chance, which are a 2^-32 of the set for each position. */
enum { VAIN_FACTOR = 16, VAIN_BYTES = 1 << 28, CHANCE_SHIFT = 30 };
#define INVERTED 0xffffffffu /* CRC-32 is the complement of its register */

typedef struct search_entry {
  uint32_t crc;
  size_t block;
  const uint8_t *md5;
  bool reported; /* with all later entries that have the same checksums */
} search_entry;

struct par2_search {
  uint64_t block;                  /* bytes */
  uint32_t enter[256];             /* the register after a byte */
  uint32_t leave[256];             /* the change of the register by a byte, one block later */
  uint8_t filter[FILTER_BITS / 8]; /* is there a CRC with these low bits? */
  search_entry *entries;           /* in ascending order of checksums */
  size_t count;
  uint64_t searched; /* positions of all ranges */
  uint64_t vain;     /* bytes that were hashed without a match */
  uint64_t zeros;    /* behind the ends of files, which were hashed */
};

static int compare_entries(const void *a, const void *b) {
  const search_entry *x = a, *y = b;
  if (x->crc != y->crc)
    return x->crc < y->crc ? -1 : 1;
  return memcmp(x->md5, y->md5, MD5_BYTES);
}

/* The register is linear in its start and its bytes. So a byte leaves the window if the difference
 * that it made at the start is added again after as many zeros. */
static void fill_tables(par2_search *search) {
  for (unsigned b = 0; b < 256; b++)
    search->enter[b] = par2_after_zeros(b, 1);
  for (unsigned b = 0; b < 256; b++) {
    uint32_t after = search->enter[(INVERTED ^ b) & 0xff] ^ INVERTED >> 8;
    search->leave[b] = par2_after_zeros(after ^ INVERTED, search->block);
  }
}

par2_search *par2_search_create(const par2_set *set) {
  par2_search *search = must_alloc(1, sizeof *search);
  search->block = set->block;
  search->entries = must_alloc(set->blocks, sizeof *search->entries);
  fill_tables(search);
  for (size_t f = 0; f < set->file_count; f++) {
    const par2_file *file = &set->files[f];
    for (size_t i = 0; i < file->count && file->blocks != NULL; i++) {
      const par2_checksums *sums = &file->blocks[i];
      unsigned bit = sums->crc % FILTER_BITS;
      search->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
      search->entries[search->count++] =
          (search_entry){sums->crc, file->first + i, sums->md5, false};
    }
  }
  qsort(search->entries, search->count, sizeof *search->entries, compare_entries);
  return search;
}

void par2_search_free(par2_search *search) {
  if (search != NULL)
    free(search->entries);
  free(search);
}

static bool may_match(const par2_search *search, uint32_t crc) {
  unsigned bit = crc % FILTER_BITS;
  return search->filter[bit / 8] >> bit % 8 & 1;
}

/* The first entry that is not before `wanted`; `count` if there is none. */
static size_t first_entry(const par2_search *search, const search_entry *wanted) {
  size_t low = 0, high = search->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_entries(&search->entries[middle], wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool has_crc(const par2_search *search, uint32_t crc) {
  static const uint8_t least[MD5_BYTES];
  size_t n = first_entry(search, &(search_entry){.crc = crc, .md5 = least});
  return n < search->count && search->entries[n].crc == crc;
}

/* Bytes of a file one after the other, then zeros. */
typedef struct byte_reader {
  int fd;
  uint64_t size, next; /* of the file; position behind the piece */
  size_t at, end;
  uint8_t piece[PAR2_PIECE];
} byte_reader;

static bool refill(byte_reader *from) {
  uint64_t left = from->next < from->size ? from->size - from->next : 0;
  size_t size = left != 0 && left < PAR2_PIECE ? (size_t)left : PAR2_PIECE;
  ssize_t n = (ssize_t)size;
  errno = 0;
  if (left == 0)
    memset(from->piece, 0, PAR2_PIECE);
  else
    n = medium_read_part(from->fd, from->piece, size, from->next);
  from->at = 0;
  from->end = n > 0 ? (size_t)n : 0;
  from->next += from->end;
  return n > 0 && !report_interrupted();
}

static void seek(byte_reader *from, uint64_t at) {
  from->next = at;
  from->at = from->end = 0;
}

/* A window of a block over a file. */
typedef struct window {
  par2_search *search;
  int fd;
  uint64_t size, start; /* of the file; of the window */
  par2_checksums sums;  /* the CRC of the window; its MD5 after a match of CRCs */
  byte_reader leaving, entering;
} window;

/* The bytes of the window before the end of the file. */
static uint64_t bytes_of(const window *at) {
  uint64_t left = at->size - at->start, block = at->search->block;
  return left < block ? left : block;
}

/* Compute the MD5 of the window at its position. */
static bool hash_window(window *at) {
  errno = 0;
  return par2_hash_block(at->fd, at->start, bytes_of(at), at->search->block, &at->sums);
}

/* Has the window the CRC of a block, so that its MD5 is worth the time? */
static bool is_candidate(const window *at) {
  par2_search *search = at->search;
  return has_crc(search, at->sums.crc) &&
         par2_may_pad(&search->zeros, search->block - bytes_of(at), search->searched);
}

static bool open_window(window *at, uint64_t start) {
  at->start = start;
  seek(&at->leaving, start);
  seek(&at->entering, start + at->search->block);
  errno = 0;
  return par2_crc_block(at->fd, start, bytes_of(at), at->search->block, &at->sums);
}

/* Slide the window by a byte at least, until its CRC is one of a block, or to `end`. */
static bool slide(window *at, uint64_t end) {
  const par2_search *search = at->search;
  uint32_t state = ~at->sums.crc;
  do {
    if ((at->leaving.at == at->leaving.end && !refill(&at->leaving)) ||
        (at->entering.at == at->entering.end && !refill(&at->entering)))
      return false;
    uint8_t out = at->leaving.piece[at->leaving.at++], in = at->entering.piece[at->entering.at++];
    state = search->enter[(state ^ in) & 0xff] ^ state >> 8 ^ search->leave[out];
    at->start++;
  } while (at->start < end && !may_match(search, ~state));
  at->sums.crc = ~state;
  return true;
}

/* Report the blocks with the checksums of the window, unless this was done before: a set may have
 * many equal blocks, and the file as many copies. */
static bool report_matches(const window *at, par2_match *match, void *context) {
  const par2_search *search = at->search;
  search_entry wanted = {.crc = at->sums.crc, .md5 = at->sums.md5};
  size_t n = first_entry(search, &wanted);
  if (n == search->count || compare_entries(&search->entries[n], &wanted) != 0)
    return false;
  bool reported = search->entries[n].reported;
  search->entries[n].reported = true;
  for (; !reported && n < search->count; n++) {
    if (compare_entries(&search->entries[n], &wanted) != 0)
      break;
    match(context, search->entries[n].block, at->start);
  }
  return true;
}

/* Has the search hashed too much in vain, now that it hashed another block? */
static bool is_vain(par2_search *search) {
  search->vain += search->block;
  uint64_t factor = VAIN_FACTOR + (search->count * search->block >> CHANCE_SHIFT);
  return search->vain > VAIN_BYTES && (search->vain - VAIN_BYTES) / factor > search->searched;
}

static bool search_window(window *at, uint64_t end, par2_match *match, void *context) {
  while (at->start < end) {
    bool candidate = is_candidate(at);
    if (candidate && !hash_window(at))
      return false;
    if (candidate && report_matches(at, match, context)) {
      uint64_t next = at->start + at->search->block;
      if (next >= end)
        return true;
      if (!open_window(at, next))
        return false;
    } else {
      if (candidate && is_vain(at->search)) {
        errno = PAR2_VAIN;
        return false;
      }
      if (!slide(at, end))
        return false;
    }
  }
  return true;
}

/* The position at which the search goes on after a failure at this window: no window with a byte
 * that the device cannot read is a block. *failures: as in medium.h. */
static uint64_t behind_failure(const window *at, unsigned *failures) {
  uint8_t piece[PAR2_PIECE];
  uint64_t next = at->start, end = at->start + at->search->block + PAR2_PIECE;
  ssize_t n;
  while (next < end && (n = medium_read_part(at->fd, piece, PAR2_PIECE, next)) > 0)
    next += (uint64_t)n;
  bool known = next < end && n < 0 && medium_failed(errno);
  if (known && next > at->start)
    *failures = 0;
  return medium_behind(known ? next : at->start, failures);
}

/* Search all windows that can be read. */
static bool search_windows(window *at, uint64_t start, uint64_t end, par2_match *match,
                           void *context) {
  unsigned failures = 0;
  while (start < end) {
    if (open_window(at, start) && search_window(at, end, match, context))
      return true;
    if (!medium_failed(errno))
      return false;
    start = behind_failure(at, &failures);
  }
  return true;
}

bool par2_search_range(par2_search *search, int fd, uint64_t size, uint64_t start, uint64_t end,
                       par2_match *match, void *context) {
  if (start >= end || search->count == 0)
    return true;
  search->searched += end - start;
  window *at = must_alloc(1, sizeof *at);
  *at = (window){.search = search, .fd = fd, .size = size};
  at->leaving.fd = at->entering.fd = fd;
  at->leaving.size = at->entering.size = size;
  bool done = search_windows(at, start, end, match, context);
  int reason = errno;
  free(at);
  errno = done ? 0 : reason;
  return done;
}
