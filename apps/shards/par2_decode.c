#include "par2_decode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "par2_field.h"
#include "par2_hash.h"
#include "par2_rows.h"
#include "report.h"

enum { SPARES = 8 }; /* equations more than unknowns: a few equations may depend on others */

/* Recovery block r of exponent e states: the sum over all blocks i of constant(i)^e * block i is r.
 * So r plus the products of the blocks that are present is a sum over the lost blocks only, the
 * right side of an equation. */
struct par2_decoding {
  const par2_found *found;
  const options *opt;
  control call;
  par2_field *field;
  uint16_t *constants; /* logarithms */
  size_t *lost, *present;
  size_t lost_count, present_count;
  uint16_t *matrix; /* rows: equations; columns: lost blocks; later its inverse */
  size_t *pivot;    /* the equation, a recovery block, of each lost block */
  size_t slice;
  par2_rows in, right, out; /* present blocks, right sides, lost blocks */
  uint64_t at, done;
  size_t size, first, loaded; /* of the slice; present blocks in memory */
  par2_sink *sink;
  void *context;
  int *errors; /* of each task */
};

static void list_blocks(par2_decoding *job) {
  size_t blocks = job->found->set->blocks;
  job->lost = must_alloc(blocks, sizeof *job->lost);
  job->present = must_alloc(blocks, sizeof *job->present);
  for (size_t i = 0; i < blocks; i++)
    if (job->found->places[i].source == SIZE_MAX)
      job->lost[job->lost_count++] = i;
    else
      job->present[job->present_count++] = i;
}

/* Invert the matrix of the first `rows` recovery blocks. */
static int invert(par2_decoding *job, size_t rows, bool *determined) {
  const par2_recovery *recovery = job->found->set->recovery;
  size_t columns = job->lost_count;
  free(job->matrix);
  job->matrix = malloc(rows * columns * sizeof *job->matrix);
  if (job->matrix == NULL)
    return refuse("out of memory");
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++)
      job->matrix[r * columns + c] =
          par2_coefficient(job->field, job->constants[job->lost[c]], recovery[r].exponent);
  *determined = par2_invert(job->field, &job->call, job->matrix, rows, columns, job->pivot);
  return report_interrupted() ? TOOL_REFUSED : TOOL_OK;
}

static int choose_equations(par2_decoding *job) {
  const par2_set *set = job->found->set;
  size_t all = set->recovery_count, few = job->lost_count + SPARES;
  bool determined;
  int status = invert(job, few < all ? few : all, &determined);
  if (status == TOOL_OK && !determined && few < all)
    status = invert(job, all, &determined);
  if (status == TOOL_OK && !determined)
    status = refuse("%s: the recovery blocks do not determine the lost blocks; others are needed",
                    set->name);
  return status;
}

static uint16_t present_coefficient(const void *of, size_t output, size_t input) {
  const par2_decoding *job = of;
  return par2_coefficient(job->field, job->constants[job->present[job->first + input]],
                          job->found->set->recovery[job->pivot[output]].exponent);
}

static uint16_t inverse_coefficient(const void *of, size_t output, size_t input) {
  const par2_decoding *job = of;
  return job->matrix[job->pivot[output] * job->lost_count + input];
}

/* Read the slice of a block of which `length` bytes exist. */
static bool load_row(const par2_decoding *job, const par2_rows *rows, size_t row, int fd,
                     uint64_t start, uint64_t length) {
  return par2_rows_load(rows, row, job->size, fd, start + job->at,
                        length > job->at ? length - job->at : 0);
}

static void finish_load(par2_decoding *job, unsigned task, int fd, bool good) {
  job->errors[task] = good ? 0 : par2_read_error();
  if (fd >= 0)
    close(fd);
}

/* A block that was found elsewhere may be followed by other bytes than zeros: only its own length
 * counts. */
static void load_present(void *context, unsigned task) {
  par2_decoding *job = context;
  size_t block = job->present[job->first + task];
  const par2_place *place = &job->found->places[block];
  int fd = par2_open_source(job->found, place->source);
  bool good = fd >= 0 && load_row(job, &job->in, task, fd, place->start, place->size);
  finish_load(job, task, fd, good);
}

static void load_right(void *context, unsigned task) {
  par2_decoding *job = context;
  const par2_set *set = job->found->set;
  const par2_recovery *recovery = &set->recovery[job->pivot[task]];
  int fd = open_input(set->packets.paths[recovery->file]);
  finish_load(job, task, fd,
              fd >= 0 && load_row(job, &job->right, task, fd, recovery->start, set->block));
}

static bool store_row(par2_decoding *job, size_t row) {
  uint8_t piece[PAR2_PIECE];
  const par2_set *set = job->found->set;
  size_t block = job->lost[row];
  uint64_t length = par2_length_of(set, par2_file_of(set, block), block);
  for (size_t at = 0; at < job->size && job->at + at < length;) {
    size_t size = job->size - at < PAR2_PIECE ? job->size - at : PAR2_PIECE;
    uint64_t left = length - job->at - at;
    par2_rows_join(&job->out, row, at, piece, size);
    if (!job->sink(job->context, block, job->at + at, piece, left < size ? (size_t)left : size))
      return false;
    at += size;
  }
  return true;
}

static void store_task(void *context, unsigned task) {
  par2_decoding *job = context;
  job->errors[task] = store_row(job, task) ? 0 : errno;
}

/* Run a task for each of `count` rows. */
static int run_tasks(par2_decoding *job, size_t count, void (*task)(void *, unsigned),
                     const char *what) {
  control_run(&job->call, (unsigned)count, task, job);
  if (report_interrupted())
    return TOOL_REFUSED;
  for (size_t i = 0; i < count; i++)
    if (job->errors[i] != 0)
      return refuse("%s: cannot %s: %s", job->found->set->name, what, par2_reason(job->errors[i]));
  return TOOL_OK;
}

static int advance(par2_decoding *job, size_t blocks) {
  job->done += blocks * job->size;
  return progress_set(&job->call.bar, job->done) ? TOOL_OK : TOOL_REFUSED;
}

static int run_slice(par2_decoding *job) {
  int status = run_tasks(job, job->lost_count, load_right, "read a recovery block");
  for (job->first = 0; job->first < job->present_count && status == TOOL_OK;
       job->first += job->loaded) {
    size_t left = job->present_count - job->first;
    job->loaded = left < PAR2_LOADED ? left : PAR2_LOADED;
    status = run_tasks(job, job->loaded, load_present, "read a block");
    if (status == TOOL_OK)
      status = par2_rows_add(&job->call, &job->right, &job->in, job->loaded, job->size,
                             present_coefficient, job);
    if (status == TOOL_OK)
      status = advance(job, job->loaded);
  }
  par2_rows_clear(&job->out);
  if (status == TOOL_OK)
    status = par2_rows_add(&job->call, &job->out, &job->right, job->lost_count, job->size,
                           inverse_coefficient, job);
  if (status == TOOL_OK)
    status = run_tasks(job, job->lost_count, store_task, "write a block");
  return status == TOOL_OK ? advance(job, job->lost_count) : status;
}

static int prepare(par2_decoding *job) {
  const par2_set *set = job->found->set;
  job->field = must_alloc(1, sizeof *job->field);
  job->constants = must_alloc(set->blocks, sizeof *job->constants);
  par2_field_fill(job->field);
  par2_constants(job->constants, set->blocks);
  list_blocks(job);
  job->pivot = must_alloc(job->lost_count, sizeof *job->pivot);
  job->errors = must_alloc(job->lost_count + PAR2_LOADED, sizeof *job->errors);
  job->slice = par2_rows_slice(set->block, 2 * job->lost_count + PAR2_LOADED,
                               (uint64_t)job->opt->memory << 20);
  int status = par2_rows_create(&job->in, PAR2_LOADED, job->slice);
  if (status == TOOL_OK)
    status = par2_rows_create(&job->right, job->lost_count, job->slice);
  return status == TOOL_OK ? par2_rows_create(&job->out, job->lost_count, job->slice) : status;
}

int par2_decode_begin(par2_decoding **out, const par2_found *found, const options *opt) {
  par2_decoding *job = *out = must_alloc(1, sizeof *job);
  *job = (par2_decoding){.found = found, .opt = opt};
  int status = prepare(job);
  if (status == TOOL_OK) {
    control_begin(&job->call, "invert", 0, &(options){.threads = opt->threads, .quiet = true});
    status = choose_equations(job);
    control_end(&job->call);
  }
  return status;
}

int par2_decode_run(par2_decoding *job, par2_sink *sink, void *context) {
  const par2_set *set = job->found->set;
  int status = TOOL_OK;
  job->sink = sink;
  job->context = context;
  control_begin(&job->call, "repair", set->blocks * set->block, job->opt);
  for (job->at = 0; job->at < set->block && status == TOOL_OK; job->at += job->size) {
    uint64_t left = set->block - job->at;
    job->size = left < job->slice ? (size_t)left : job->slice;
    status = run_slice(job);
  }
  control_end(&job->call);
  return status;
}

void par2_decode_end(par2_decoding *job) {
  if (job == NULL)
    return;
  free(job->field);
  free(job->constants);
  free(job->lost);
  free(job->present);
  free(job->matrix);
  free(job->pivot);
  free(job->errors);
  free(job->in.bytes);
  free(job->right.bytes);
  free(job->out.bytes);
  free(job);
}
