/* The kernels of operations: codecs, cached by the contents of their matrix. Any thread. */
#ifndef GFC_KERNEL_CACHE_H
#define GFC_KERNEL_CACHE_H

#include "gfsmith_compose.h"

typedef struct gfc_kernels gfc_kernels;
typedef struct gfc_kernel gfc_kernel;

gfc_kernels *gfc_kernels_create(void); /* NULL: out of memory */
void gfc_kernels_destroy(gfc_kernels *kernels);

/* The kernel that computes `calc` (XOR or EC) on this number of inputs. @return as
 * gfsmith_codec_create_matrix */
int gfc_kernel_take(gfc_kernels *kernels, const gfsmith_calc *calc, unsigned inputs,
                    gfc_kernel **out);
void gfc_kernel_give(gfc_kernels *kernels, gfc_kernel *kernel);

int gfc_kernel_run(const gfc_kernel *kernel, size_t bytes, const uint8_t *const *input,
                   uint8_t *const *output);

#endif
