/* Every kernel of the build, as its contract. */
#include "../drivers/driver.h"
#include "baked.h"
#include "dispatch.h"
#include "kernel_contract.h"
#include "probe.h"
#include "tables.h"

static void call_kernel(size_t len, size_t sources, size_t outputs, size_t entries,
                        gfs_format format, const uint8_t *coeffs, const uint8_t *const *src,
                        uint8_t *const *dst) {
  size_t table = entries * gfs_tables_entry(format);
  if (len == 0)
    return;
  gfs_kernel_reads(len, sources, outputs, table, coeffs, src, dst);
  for (size_t i = 0; i < outputs; i++) {
    for (size_t other = 0; other < i; other++)
      gfs_kernel_separates(len, dst[i], dst[other]);
    gfs_kernel_writes(len, sources, outputs, table, coeffs, src, dst, dst[i]);
  }
}

#define OUTPUTS_dot(k, r) (r)
#define OUTPUTS_mad(k, r) (r)
#define OUTPUTS_mul(k, r) (k)
#define OUTPUTS_xor(k, r) (r)
#define OUTPUTS_horner(k, r) (r)
#define OUTPUTS_fft(k, r) (r)
#define OUTPUTS_ifft(k, r) (r)
#define OUTPUTS_fft4(k, r) (r)
#define OUTPUTS_ifft4(k, r) (r)
#define OUTPUTS_fft16(k, r) (r)
#define OUTPUTS_ifft16(k, r) (r)
#define OUTPUTS_refft16(k, r) (r)
#define OUTPUTS_fft4lines(k, r) (r)
#define OUTPUTS_ifft4lines(k, r) (r)
#define OUTPUTS_fft4scaled(k, r) (r)
#define OUTPUTS_ifft4scaled(k, r) (r)
#define GFSMITH_KERNEL(symbol, isa, operation, inputs, r, unroll, store, prefetch, format)         \
  void symbol(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,              \
              uint8_t *const *dst) {                                                               \
    size_t sources = (inputs) == 0 ? k : (inputs);                                                 \
    call_kernel(len, sources, OUTPUTS_##operation(sources, r), sources *(r), GFS_FORMAT_##format,  \
                coeffs, src, dst);                                                                 \
  }
#include "kernels.inc"

#define GFSMITH_BAKED(symbol, isa, matrix, store, prefetch)                                        \
  void symbol(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,              \
              uint8_t *const *dst) {                                                               \
    const gfs_known_matrix *known = &gfs_baked_matrices[GFS_MATRIX_##matrix];                      \
    call_kernel(len, known->inputs, known->outputs, 0, GFS_FORMAT_none, coeffs, src, dst);         \
  }
#include "baked.inc"

/* The place of the sources is unknown. Only the program for x86-64 reads them to find it. */
gfs_path gfs_path_probed(gfs_path path, unsigned shards, size_t len, const uint8_t *const *src,
                         unsigned inputs) {
  int shared;
  (void)shards, (void)len, (void)src, (void)inputs;
  UNKNOWN(shared);
  return shared != 0 ? GFS_PATH_cached : path;
}
