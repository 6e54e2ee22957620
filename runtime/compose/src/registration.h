/* Memory that is registered with the provider; fabric.c implements it. */
#ifndef GFC_REGISTRATION_H
#define GFC_REGISTRATION_H

#include <stdint.h>

/* The purposes for which memory is registered. */
enum {
  GFC_SOURCE = 1, /* our writes read it */
  GFC_TARGET = 2  /* peers write there */
};

/* Memory registered with the provider: the data for the local side of a transfer, and the data with
 * which a peer can write to it. */
typedef struct gfc_registration {
  void *mr;         /* struct fid_mr *, NULL if the provider needs none */
  void *descriptor; /* fi_mr_desc, or NULL */
  uint64_t key;     /* for the peer; random if the provider lets us choose */
  uint64_t base;    /* the address for the peer: virtual, or 0 if the provider counts offsets */
} gfc_registration;

/* Any thread; a cleared registration is allowed. */
void gfc_unregister(gfc_registration *registration);

#endif
