/* Registration: what our writes read, and what peers may write. */
#include <rdma/fi_domain.h>
#include <stdint.h>

#include "auth.h"
#include "engine.h"
#include "fabric.h"

/* A key that nobody guesses, as long as the provider's keys are. */
static uint64_t fresh_key(const gfc_fabric *fabric) {
  size_t bytes = fabric->info->domain_attr->mr_key_size;
  uint64_t key;
  gfc_random(&key, sizeof key);
  return bytes >= sizeof key ? key : key & ((UINT64_C(1) << (8 * bytes)) - 1);
}

static int try_register(gfc_fabric *fabric, void *memory, size_t bytes, unsigned purpose,
                        bool event, struct fid_mr **mr) {
  uint64_t access = (purpose & GFC_SOURCE ? FI_WRITE | FI_SEND | FI_RECV : 0) |
                    (purpose & GFC_TARGET ? FI_REMOTE_WRITE : 0);
  int status = -FI_ENOKEY;
  /* A key that is taken already: another one. */
  for (unsigned attempt = 0; attempt < 16 && status == -FI_ENOKEY; attempt++)
    status = fi_mr_reg(fabric->domain, memory, bytes, access, 0, fresh_key(fabric),
                       event ? FI_RMA_EVENT : 0, mr, NULL);
  return status;
}

int gfc_fabric_register(gfc_fabric *fabric, void *memory, size_t bytes, unsigned purpose,
                        struct fid_cntr *counter, gfc_registration *registration) {
  int mode = fabric->info->domain_attr->mr_mode;
  *registration = (gfc_registration){0};
  if (!(purpose & GFC_TARGET) && !(mode & FI_MR_LOCAL))
    return GFSMITH_OK;
  struct fid_mr *mr = NULL;
  int status = try_register(fabric, memory, bytes, purpose, counter != NULL, &mr);
  if (status == -FI_ENOMEM)
    return GFSMITH_ENOMEM;
  if (status != 0)
    return GFSMITH_EFABRIC;
  if (counter != NULL && fi_mr_bind(mr, &counter->fid, FI_REMOTE_WRITE) != 0) {
    fi_close(&mr->fid);
    return GFSMITH_EFABRIC;
  }
  *registration = (gfc_registration){.mr = mr,
                                     .descriptor = fi_mr_desc(mr),
                                     .key = fi_mr_key(mr),
                                     .base = mode & FI_MR_VIRT_ADDR ? (uintptr_t)memory : 0};
  return GFSMITH_OK;
}

int gfc_register(gfc_engine *engine, void *memory, size_t bytes, unsigned purpose,
                 struct fid_cntr *counter, gfc_registration *registration) {
  return gfc_fabric_register(&engine->fabric, memory, bytes, purpose, counter, registration);
}

void gfc_unregister(gfc_registration *registration) {
  struct fid_mr *mr = registration->mr;
  if (mr != NULL)
    fi_close(&mr->fid);
  *registration = (gfc_registration){0};
}
