/* gfsmith-shards par2 create: recovery blocks for files, which stay as they are. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "control.h"
#include "json.h"
#include "par2_field.h"
#include "par2_hash.h"
#include "par2_rows.h"
#include "par2_scan.h"
#include "par2_sources.h"
#include "par2_volumes.h"
#include "report.h"

/* A piece of a file, whose bytes continue the file's MD5. */
typedef struct fragment {
  size_t file;
  uint64_t start, end;
} fragment;

typedef struct creation {
  par2_set set;
  par2_volumes volumes;
  size_t recovery; /* number of recovery blocks */
  size_t slice;    /* bytes of every block that are worked on at a time */
  par2_rows in, out;
  par2_field *field;
  uint16_t *constants; /* logarithms */
  md5 *files;          /* of each file */
  md5 *packets;        /* of each recovery packet */
  control call;
  uint64_t done;        /* bytes */
  bool hashing;         /* compute the checksums of blocks and files now */
  uint64_t at;          /* of the slice in each block */
  size_t size;          /* of the slice */
  size_t first, loaded; /* blocks in memory */
  fragment fragments[PAR2_LOADED];
  size_t fragment_count;
  int errors[PAR2_LOADED + PAR2_LOADED];
} creation;

static uint16_t coefficient_of(const void *of, size_t output, size_t input) {
  const creation *job = of;
  return par2_coefficient(job->field, job->constants[job->first + input], (unsigned)output);
}

/* Behind the end of a file there are zeros. */
static bool load_row(const creation *job, size_t row, int fd, size_t file, size_t block) {
  const par2_set *set = &job->set;
  uint64_t start = (block - set->files[file].first) * set->block + job->at;
  uint64_t length = par2_length_of(set, file, block);
  return par2_rows_load(&job->in, row, job->size, fd, start,
                        length > job->at ? length - job->at : 0);
}

static void load_task(void *context, unsigned task) {
  creation *job = context;
  size_t block = job->first + task, file = par2_file_of(&job->set, block);
  const par2_file *of = &job->set.files[file];
  int fd = par2_open_below(job->set.folder, of->name, O_RDONLY);
  bool good = fd >= 0 && load_row(job, task, fd, file, block);
  if (good && job->hashing)
    good = par2_hash_block(fd, (block - of->first) * job->set.block,
                           par2_length_of(&job->set, file, block), job->set.block,
                           &of->blocks[block - of->first]);
  job->errors[task] = good ? 0 : par2_read_error();
  if (fd >= 0)
    close(fd);
}

static void fragment_task(creation *job, size_t n) {
  const fragment *part = &job->fragments[n];
  int fd = par2_open_below(job->set.folder, job->set.files[part->file].name, O_RDONLY);
  bool good = fd >= 0 && par2_hash_range(fd, part->start, part->end, &job->files[part->file]);
  job->errors[PAR2_LOADED + n] = good ? 0 : par2_read_error();
  if (fd >= 0)
    close(fd);
}

/* The pieces of files come first: one of them takes as long as all blocks. */
static void read_task(void *context, unsigned task) {
  creation *job = context;
  if (task < job->fragment_count)
    fragment_task(job, task);
  else
    load_task(job, (unsigned)(task - job->fragment_count));
}

/* The pieces of files that the loaded blocks are. */
static void cut_fragments(creation *job) {
  job->fragment_count = 0;
  for (size_t i = 0; i < job->loaded && job->hashing; i++) {
    size_t file = par2_file_of(&job->set, job->first + i);
    uint64_t start = (job->first + i - job->set.files[file].first) * job->set.block;
    uint64_t end = start + par2_length_of(&job->set, file, job->first + i);
    fragment *last = &job->fragments[job->fragment_count - (job->fragment_count > 0)];
    if (job->fragment_count > 0 && last->file == file)
      last->end = end;
    else
      job->fragments[job->fragment_count++] = (fragment){file, start, end};
  }
}

static int refuse_read(const creation *job) {
  for (size_t i = 0; i < job->loaded; i++)
    if (job->errors[i] != 0)
      return refuse("cannot read %s: %s",
                    job->set.files[par2_file_of(&job->set, job->first + i)].name,
                    par2_reason(job->errors[i]));
  for (size_t n = 0; n < job->fragment_count; n++)
    if (job->errors[PAR2_LOADED + n] != 0)
      return refuse("cannot read %s: %s", job->set.files[job->fragments[n].file].name,
                    par2_reason(job->errors[PAR2_LOADED + n]));
  return TOOL_OK;
}

/* Add the slices of all blocks to the recovery blocks. */
static int add_blocks(creation *job) {
  int status = TOOL_OK;
  par2_rows_clear(&job->out);
  for (job->first = 0; job->first < job->set.blocks && status == TOOL_OK;
       job->first += job->loaded) {
    size_t left = job->set.blocks - job->first;
    job->loaded = left < PAR2_LOADED ? left : PAR2_LOADED;
    cut_fragments(job);
    control_run(&job->call, (unsigned)(job->fragment_count + job->loaded), read_task, job);
    status = report_interrupted() ? TOOL_REFUSED : refuse_read(job);
    if (status == TOOL_OK)
      status = par2_rows_add(&job->call, &job->out, &job->in, job->loaded, job->size,
                             coefficient_of, job);
    job->done += job->loaded * job->size;
    progress_set(&job->call.bar, job->done);
  }
  return status;
}

/* Write the slice of a recovery block, whose packet's MD5 covers header, exponent and block. */
static bool write_row(creation *job, size_t recovery) {
  uint8_t header[PAR2_HEADER + PAR2_EXPONENT], piece[PAR2_PIECE];
  const uint64_t body = PAR2_EXPONENT + job->set.block;
  uint64_t offset;
  const output *out = par2_volume_of(&job->volumes, recovery, &offset);
  md5 *sum = &job->packets[recovery];
  par2_put_header(header, job->set.id, PAR2_TYPE_RECOVERY, body);
  par2_put(header + PAR2_HEADER, PAR2_EXPONENT, recovery);
  if (job->at == 0) {
    par2_begin_packet(sum, header);
    md5_add(sum, header + PAR2_HEADER, PAR2_EXPONENT);
  }
  for (size_t at = 0; at < job->size;) {
    size_t size = job->size - at < PAR2_PIECE ? job->size - at : PAR2_PIECE;
    par2_rows_join(&job->out, recovery, at, piece, size);
    md5_add(sum, piece, size);
    if (!output_write_at(out, piece, size, offset + sizeof header + job->at + at))
      return false;
    at += size;
  }
  if (job->at + job->size < job->set.block)
    return true;
  md5_end(sum, header + PAR2_AT_MD5);
  return output_write_at(out, header, sizeof header, offset);
}

static void write_task(void *context, unsigned task) {
  creation *job = context;
  job->errors[task] = write_row(job, job->first + task) ? 0 : errno;
}

static int write_blocks(creation *job) {
  for (job->first = 0; job->first < job->recovery; job->first += PAR2_LOADED) {
    size_t left = job->recovery - job->first, count = left < PAR2_LOADED ? left : PAR2_LOADED;
    control_run(&job->call, (unsigned)count, write_task, job);
    for (size_t i = 0; i < count; i++)
      if (job->errors[i] != 0) {
        uint64_t offset;
        const output *out = par2_volume_of(&job->volumes, job->first + i, &offset);
        return report_interrupted()
                   ? TOOL_REFUSED
                   : refuse("cannot write %s: %s", out->final_path, strerror(job->errors[i]));
      }
    if (report_interrupted())
      return TOOL_REFUSED;
  }
  return TOOL_OK;
}

static int run_slices(creation *job) {
  int status = TOOL_OK;
  for (job->at = 0; job->at < job->set.block && status == TOOL_OK; job->at += job->size) {
    uint64_t left = job->set.block - job->at;
    job->size = left < job->slice ? (size_t)left : job->slice;
    job->hashing = job->at == 0;
    status = add_blocks(job);
    if (status == TOOL_OK)
      status = write_blocks(job);
  }
  return status;
}

static void end_hashes(creation *job) {
  for (size_t f = 0; f < job->set.file_count; f++)
    md5_end(&job->files[f], job->set.files[f].md5);
}

/* Memory and tables. */
static int prepare(creation *job, const options *opt) {
  par2_set *set = &job->set;
  job->slice =
      par2_rows_slice(set->block, job->recovery + PAR2_LOADED, (uint64_t)opt->memory << 20);
  job->field = must_alloc(1, sizeof *job->field);
  job->constants = must_alloc(set->blocks, sizeof *job->constants);
  job->files = must_alloc(set->file_count, sizeof *job->files);
  job->packets = must_alloc(job->recovery, sizeof *job->packets);
  par2_field_fill(job->field);
  par2_constants(job->constants, set->blocks);
  for (size_t f = 0; f < set->file_count; f++)
    md5_begin(&job->files[f]);
  int status = par2_rows_create(&job->in, PAR2_LOADED, job->slice);
  return status == TOOL_OK ? par2_rows_create(&job->out, job->recovery, job->slice) : status;
}

static int compute(creation *job, const options *opt) {
  uint64_t total = job->set.blocks * job->set.block;
  control_begin(&job->call, "create", total, opt);
  int status = run_slices(job);
  control_end(&job->call);
  if (status == TOOL_OK)
    status = par2_sources_unchanged(&job->set);
  if (status == TOOL_OK) {
    end_hashes(job);
    status = par2_volumes_finish(&job->volumes);
  }
  return status;
}

static int plan(creation *job, const options *opt) {
  if (strcmp(opt->paths[0], "-") == 0)
    return refuse("PAR2 files are not written to standard output; allowed: a name, such as ./-");
  int status = par2_sources(&job->set, opt->paths[0], opt->paths + 1, opt->count - 1, opt);
  if (status != TOOL_OK)
    return status;
  job->recovery = (job->set.blocks * opt->redundancy + 99) / 100;
  status = par2_volumes_plan(&job->volumes, &job->set, job->recovery);
  return status == TOOL_OK ? prepare(job, opt) : status;
}

static void free_creation(creation *job) {
  par2_volumes_free(&job->volumes);
  par2_set_free(&job->set);
  free(job->in.bytes);
  free(job->out.bytes);
  free(job->field);
  free(job->constants);
  free(job->files);
  free(job->packets);
  free(job);
}

/* The folders around a file are those of its name, below the folder of the set. */
static void narrow(const creation *job, rights *given, size_t file) {
  const char *name = job->set.files[file].name;
  char *path = path_join(job->set.folder, name);
  rights_narrow(given, path, &job->set.files[file].info);
  for (char *slash = path + strlen(path) - strlen(name); (slash = strchr(slash, '/')) != NULL;
       slash++) {
    struct stat info = {0}; /* of a folder that cannot be read: only the owner may enter it */
    *slash = '\0';
    stat(path, &info);
    rights_narrow_folder(given, path, &info);
    *slash = '/';
  }
  free(path);
}

/* Recovery blocks and checksums tell the bytes of the files, so only users who may read all files
 * may read them. */
static int open_volumes(creation *job) {
  rights given = rights_new();
  for (size_t f = 0; f < job->set.file_count; f++)
    narrow(job, &given, f);
  return output_open(job->volumes.outs, job->volumes.count, &given);
}

int command_par2_create(const options *opt) {
  if (md5_require() != TOOL_OK)
    return TOOL_REFUSED;
  creation *job = must_alloc(1, sizeof *job);
  int status = plan(job, opt);
  if (status == TOOL_OK)
    status = open_volumes(job);
  if (status == TOOL_OK)
    status = compute(job, opt);
  if (status == TOOL_OK)
    status = output_commit(job->volumes.outs, job->volumes.count);
  for (size_t n = 0; n < job->volumes.count && job->volumes.outs[n].done; n++)
    say("%s: created", job->volumes.outs[n].final_path);
  if (status == TOOL_OK)
    say("%s: %zu file%s, %zu blocks of %" PRIu64 " bytes, %zu recovery blocks", opt->paths[0],
        job->set.file_count, job->set.file_count == 1 ? "" : "s", job->set.blocks, job->set.block,
        job->recovery);
  if (status == TOOL_OK && opt->json)
    json_par2("par2 create", "created", &job->set, NULL, job->recovery);
  free_creation(job);
  return status;
}
