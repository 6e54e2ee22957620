#include "progress.h"

#include "report.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BAR_COLUMNS 24
#define TERMINAL_SECONDS 0.1 /* more than ten updates a second cannot be read */
#define PIPE_SECONDS 15.0

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "12% 1.2 of 10.0 MB" or, if the total is unknown, "1.2 MB". */
static void amount(const progress *bar, char *text, size_t size) {
  double done = (double)bar->done / 1e6, total = (double)bar->total / 1e6;
  if (bar->total == 0)
    snprintf(text, size, "%.1f MB", done);
  else
    snprintf(text, size, "%3d%% %.1f of %.1f MB", (int)(100 * done / total), done, total);
}

static void draw_bar(const progress *bar, const char *text, double rate) {
  double share = bar->total ? (double)bar->done / (double)bar->total : 0.0;
  int full = (int)(share * BAR_COLUMNS);
  char cells[BAR_COLUMNS + 1];
  char eta[24] = "--:--";
  for (int i = 0; i < BAR_COLUMNS; i++)
    cells[i] = i < full ? '#' : '.';
  cells[BAR_COLUMNS] = '\0';
  if (rate > 0 && bar->total > 0) {
    double left = (double)(bar->total - bar->done) / rate;
    unsigned long whole = left < 3.6e8 ? (unsigned long)left : 360000000UL;
    snprintf(eta, sizeof eta, "%lu:%02lu", whole / 60, whole % 60);
  }
  fprintf(stderr, "\r%-7s [%s] %s %.1f MB/s ETA %s ", bar->label, cells, text, rate / 1e6, eta);
}

static void draw(progress *bar) {
  char text[80];
  double seconds = bar->drawn - bar->began;
  double rate = seconds > 0 ? (double)bar->done / seconds : 0;
  amount(bar, text, sizeof text);
  if (bar->terminal)
    draw_bar(bar, text, rate);
  else
    fprintf(stderr, "%s: %s %.1f MB/s\n", bar->label, text, rate / 1e6);
  fflush(stderr);
}

void progress_begin(progress *bar, const char *label, uint64_t total, bool quiet) {
  bar->label = label;
  bar->total = total;
  bar->done = 0;
  bar->began = bar->drawn = now();
  bar->shown = !quiet;
  bar->terminal = isatty(STDERR_FILENO);
  if (bar->shown && bar->terminal)
    draw(bar);
}

bool progress_set(void *context, uint64_t done) {
  progress *bar = context;
  bar->done = bar->total != 0 && done > bar->total ? bar->total : done;
  double t = bar->shown ? now() : 0;
  if (bar->shown && t - bar->drawn >= (bar->terminal ? TERMINAL_SECONDS : PIPE_SECONDS)) {
    bar->drawn = t;
    draw(bar);
  }
  return report_interrupted() == 0;
}

void progress_end(progress *bar) {
  if (bar->shown && bar->terminal) {
    bar->drawn = now();
    draw(bar);
    fputc('\n', stderr);
  }
  bar->shown = false;
}
