#include "par2_packets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "medium.h"
#include "output.h"
#include "report.h"

enum { WINDOW = 64 * 1024, MAGIC = 8 };
/* The bytes that may be hashed in vain, as a multiple of the file: a hostile file could otherwise
 * claim a long packet at each of its bytes. */
enum { MOST_VAIN = 8 };

typedef struct packet_scan {
  par2_packets *packets;
  const char *path;
  int fd;
  uint64_t size, vain;
  uint64_t seen;  /* position of the bytes in which magics are searched */
  size_t present; /* number of these bytes */
  uint8_t searched[WINDOW], window[WINDOW];
} packet_scan;

/* Read the bytes in which magics are searched, so that each is read about once, however many magics
 * there are. Bytes that the device cannot read are skipped. */
static int read_searched(packet_scan *scan, uint64_t *at) {
  ssize_t n = 0;
  unsigned failures = 0;
  while (*at < scan->size && (n = medium_read_part(scan->fd, scan->searched, WINDOW, *at)) < 0) {
    if (!medium_failed(errno))
      return report_interrupted() ? TOOL_REFUSED
                                  : refuse("cannot read %s: %s", scan->path, strerror(errno));
    scan->packets->damaged += failures == 0;
    *at = medium_behind(*at, &failures);
  }
  scan->seen = *at;
  scan->present = n > 0 ? (size_t)n : 0;
  return TOOL_OK;
}

/* The position of the next magic at or behind `at`; the size of the file if there is none. */
static int find_magic(packet_scan *scan, uint64_t *at) {
  while (*at < scan->size) {
    if (*at + MAGIC > scan->seen + scan->present && read_searched(scan, at) != TOOL_OK)
      return TOOL_REFUSED;
    size_t skipped = (size_t)(*at - scan->seen);
    const uint8_t *found =
        memmem(scan->searched + skipped, scan->present - skipped, PAR2_MAGIC, MAGIC);
    if (found != NULL) {
      *at = scan->seen + (uint64_t)(found - scan->searched);
      return TOOL_OK;
    }
    uint64_t end = scan->seen + scan->present;
    if (scan->present == 0 || end >= scan->size)
      break;
    *at = scan->present < MAGIC ? end : end - MAGIC + 1;
  }
  *at = scan->size;
  return TOOL_OK;
}

/* Hash the body. Returns false if it cannot be read. */
static bool read_body(packet_scan *scan, par2_packet *packet, md5 *sum) {
  for (uint64_t at = 0; at < packet->size;) {
    uint64_t left = packet->size - at;
    size_t size = left < WINDOW ? (size_t)left : WINDOW;
    if (medium_read(scan->fd, scan->window, size, packet->start + at) != (ssize_t)size)
      return false;
    md5_add(sum, scan->window, size);
    if (at == 0)
      memcpy(packet->lead, scan->window, size < sizeof packet->lead ? size : sizeof packet->lead);
    at += size;
  }
  return true;
}

static void keep(packet_scan *scan, const par2_packet *packet) {
  par2_packets *packets = scan->packets;
  if ((packets->count & (packets->count - 1)) == 0)
    packets->list =
        must_grow(packets->list, packets->count ? 2 * packets->count : 1, sizeof *packets->list);
  packets->list[packets->count++] = *packet;
}

/* Read the packet at a magic. Sets *length to its length, or to 0 if it is damaged. */
static int read_packet(packet_scan *scan, uint64_t at, uint64_t *length) {
  uint8_t header[PAR2_HEADER], digest[MD5_BYTES];
  md5 sum;
  *length = 0;
  if (medium_read(scan->fd, header, PAR2_HEADER, at) != PAR2_HEADER)
    return TOOL_OK;
  uint64_t claimed = par2_get(header + PAR2_AT_LENGTH, 8);
  if (claimed < PAR2_HEADER || claimed % 4 != 0 || claimed > scan->size - at)
    return TOOL_OK;
  par2_packet packet = {.file = scan->packets->path_count - 1,
                        .start = at + PAR2_HEADER,
                        .size = claimed - PAR2_HEADER};
  memcpy(packet.set, header + PAR2_AT_SET, PAR2_ID);
  memcpy(packet.type, header + PAR2_AT_TYPE, PAR2_ID);
  par2_begin_packet(&sum, header);
  bool whole = read_body(scan, &packet, &sum);
  md5_end(&sum, digest);
  if (!whole || memcmp(digest, header + PAR2_AT_MD5, MD5_BYTES) != 0) {
    scan->vain += claimed;
    if (scan->vain / MOST_VAIN > scan->size)
      return refuse("%s: too many damaged packets overlap each other", scan->path);
    return report_interrupted() ? TOOL_REFUSED : TOOL_OK;
  }
  keep(scan, &packet);
  *length = claimed;
  return TOOL_OK;
}

static int scan_file(packet_scan *scan) {
  uint64_t at = 0, length;
  int status = find_magic(scan, &at);
  while (status == TOOL_OK && at < scan->size) {
    status = read_packet(scan, at, &length);
    scan->packets->damaged += length == 0;
    at += length == 0 ? MAGIC : length;
    if (status == TOOL_OK)
      status = report_interrupted() ? TOOL_REFUSED : find_magic(scan, &at);
  }
  return status;
}

static void add_path(par2_packets *packets, const char *path) {
  packets->paths = must_grow(packets->paths, packets->path_count + 1, sizeof *packets->paths);
  packets->paths[packets->path_count++] = must_copy(path);
}

/* A file that cannot be opened. */
static int miss(par2_packets *packets, const char *path, int reason) {
  if (reason == ENOENT)
    return TOOL_OK;
  if (!medium_failed(reason))
    return refuse("cannot open %s: %s", path, strerror(reason));
  packets->damaged++;
  add_path(packets, path);
  return TOOL_OK;
}

int par2_packets_scan(par2_packets *packets, const char *path) {
  struct stat info;
  int fd = open_input(path);
  if (fd < 0)
    return miss(packets, path, errno);
  int status = TOOL_OK;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    packet_scan *scan = must_alloc(1, sizeof *scan);
    *scan = (packet_scan){.packets = packets, .path = path, .fd = fd};
    scan->size = (uint64_t)info.st_size;
    add_path(packets, path);
    status = scan_file(scan);
    free(scan);
  }
  close(fd);
  return status;
}

int par2_packets_body(const par2_packets *packets, const par2_packet *packet, uint8_t **body) {
  const char *path = packets->paths[packet->file];
  int fd = open_input(path);
  *body = must_alloc((size_t)packet->size, 1);
  ssize_t n = fd >= 0 ? read_at(fd, *body, (size_t)packet->size, packet->start) : -1;
  int reason = errno;
  if (fd >= 0)
    close(fd);
  if (n == (ssize_t)packet->size)
    return TOOL_OK;
  free(*body);
  return refuse("cannot read %s: %s", path, n < 0 ? strerror(reason) : "it has become shorter");
}

void par2_packets_free(par2_packets *packets) {
  for (size_t i = 0; i < packets->path_count; i++)
    free(packets->paths[i]);
  free(packets->list);
  free(packets->foreign);
  free(packets->paths);
}
