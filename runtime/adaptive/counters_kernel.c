#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall */
#endif
#include "counters.h"

#if !defined(GFS_SEES_COUNTERS)

const gfs_counters_system *const gfs_counters_kernel = NULL;

#else

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void kernel_identify(gfs_cpu_identity *identity) {
#if defined(GFSMITH_SINGLE_ISA)
  memset(identity, 0, sizeof *identity); /* such a build has no cpu_*.c */
#else
  gfs_cpu_identify(identity);
#endif
}

static int kernel_processors(void) { return (int)sysconf(_SC_NPROCESSORS_CONF); }

static int kernel_ibs_type(void) {
  char text[16] = "";
  int file = open("/sys/bus/event_source/devices/ibs_op/type", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return -1;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  return got > 0 ? atoi(text) : -1;
}

static int kernel_open(const struct perf_event_attr *attr, int processor, int group) {
  return (int)syscall(SYS_perf_event_open, attr, 0, processor, group, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_mmap_page *kernel_map(int descriptor, size_t size) {
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return page == MAP_FAILED ? NULL : page;
}

static void kernel_unmap(struct perf_event_mmap_page *page, size_t size) { munmap(page, size); }

static ptrdiff_t kernel_read(int descriptor, void *to, size_t size) {
  return read(descriptor, to, size);
}

static void kernel_close(int descriptor) { close(descriptor); }

static const gfs_counters_system linux_calls = {
    .identify = kernel_identify,
    .processors = kernel_processors,
    .ibs_type = kernel_ibs_type,
    .open = kernel_open,
    .map = kernel_map,
    .unmap = kernel_unmap,
    .read = kernel_read,
    .close = kernel_close,
};

const gfs_counters_system *const gfs_counters_kernel = &linux_calls;

void gfs_counters_explain(char *why, size_t size, const char *call, int error) {
  static const struct {
    int error;
    const char *name, *meaning;
  } errors[] = {
      {EACCES, "EACCES", "not permitted: kernel.perf_event_paranoid is above 2"},
      {EPERM, "EPERM",
       "not permitted: kernel.perf_event_paranoid, kernel.perf_event_mlock_kb or a container"},
      {ENOENT, "ENOENT", "this machine shows no such counter, as most virtual ones"},
      {ENODEV, "ENODEV", "this machine shows no such counter, as most virtual ones"},
      {EOPNOTSUPP, "EOPNOTSUPP", "this machine cannot sample loads, as most virtual ones"},
      {ENODATA, "ENODATA", "this kernel knows the core's loads otherwise"},
      {EINVAL, "EINVAL", "this kernel cannot do that for one program: IBS needs Linux 6.14"},
      {ENOSYS, "ENOSYS", "this kernel or its sandbox has no counters"},
      {EMFILE, "EMFILE", "too many open files"},
      {EBUSY, "EBUSY", "somebody else has the counters"},
  };
  for (size_t n = 0; n < sizeof errors / sizeof errors[0]; n++)
    if (errors[n].error == error) {
      snprintf(why, size, "%s: %s (%s)", call, errors[n].name, errors[n].meaning);
      return;
    }
  snprintf(why, size, "%s: error %d", call, error);
}

#endif
