#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BAR_COLUMNS 24

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draw(progress *bar) {
  double share = bar->total ? (double)bar->done / (double)bar->total : 1.0;
  double seconds = bar->drawn - bar->began;
  double rate = seconds > 0 ? (double)bar->done / seconds : 0;
  int full = (int)(share * BAR_COLUMNS);
  char cells[BAR_COLUMNS + 1];
  char eta[24] = "--:--";
  for (int i = 0; i < BAR_COLUMNS; i++)
    cells[i] = i < full ? '#' : '.';
  cells[BAR_COLUMNS] = '\0';
  if (rate > 0) {
    double left = (double)(bar->total - bar->done) / rate;
    unsigned long whole = left < 3.6e8 ? (unsigned long)left : 360000000UL;
    snprintf(eta, sizeof eta, "%lu:%02lu", whole / 60, whole % 60);
  }
  fprintf(stderr, "\r%-7s [%s] %3d%% %.1f of %.1f MB %.1f MB/s ETA %s ", bar->label, cells,
          (int)(100 * share), (double)bar->done / 1e6, (double)bar->total / 1e6, rate / 1e6, eta);
  fflush(stderr);
}

void progress_begin(progress *bar, const char *label, uint64_t total, bool quiet) {
  bar->label = label;
  bar->total = total;
  bar->done = 0;
  bar->began = bar->drawn = now();
  bar->shown = !quiet && isatty(STDERR_FILENO);
  if (bar->shown)
    draw(bar);
}

void progress_add(progress *bar, uint64_t bytes) {
  bar->done += bytes;
  if (!bar->shown)
    return;
  double t = now();
  if (t - bar->drawn < 0.1) /* more than ten updates a second cannot be read */
    return;
  bar->drawn = t;
  draw(bar);
}

void progress_end(progress *bar) {
  if (!bar->shown)
    return;
  bar->drawn = now();
  draw(bar);
  fputc('\n', stderr);
  bar->shown = false;
}
