#include "fabric.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* The required capabilities of a provider, and the supported modes. */
static struct fi_info *hints_for(const gfsmith_node_options *options) {
  struct fi_info *hints = fi_allocinfo();
  if (hints == NULL)
    return NULL;
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
  hints->ep_attr->type = FI_EP_MSG;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAS | FI_ORDER_WAW;
  hints->rx_attr->msg_order = hints->tx_attr->msg_order;
  hints->fabric_attr->prov_name = strdup(options->provider);
  if (hints->fabric_attr->prov_name != NULL)
    return hints;
  fi_freeinfo(hints);
  return NULL;
}

static const uint32_t interface_version = FI_VERSION(1, 17);

/* Look for a provider that satisfies the hints. @return 0, or libfabric's error */
static int search(const struct fi_info *hints) {
  struct fi_info *info = NULL;
  int status = fi_getinfo(interface_version, NULL, NULL, 0, hints, &info);
  fi_freeinfo(info);
  return status;
}

static int choose(gfc_fabric *fabric, struct fi_info *hints, const gfsmith_node_options *options,
                  char *reason) {
  char port[8];
  snprintf(port, sizeof port, "%u", options->port);
  int status = search(hints);
  if (status == -FI_ENOMEM) {
    gfc_words(reason, "no memory");
    return GFSMITH_ENOMEM;
  }
  if (status != 0) {
    gfc_words(reason, "provider: %s is not available, or has no endpoints with messages and writes",
              options->provider);
    return GFSMITH_EUNSUPPORTED;
  }
  uint64_t plain = hints->caps;
  hints->caps = plain | FI_TRIGGER | FI_RMA_EVENT;
  fabric->triggers = options->triggers && search(hints) == 0;
  if (!fabric->triggers)
    hints->caps = plain;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  fabric->delivers = search(hints) == 0;
  hints->tx_attr->op_flags = 0;
  status = fi_getinfo(interface_version, options->host, port, FI_SOURCE | FI_NUMERICHOST, hints,
                      &fabric->info);
  if (status == 0)
    return GFSMITH_OK;
  gfc_words(reason, "host: the provider %s cannot listen on %s: %s", options->provider,
            options->host, fi_strerror(-status));
  return GFSMITH_EFABRIC;
}

static int listen_there(gfc_fabric *fabric, const gfsmith_node_options *options, char *reason) {
  struct fi_eq_attr attr = {.size = 1024, .wait_obj = FI_WAIT_FD};
  const char *doing = "fi_fabric";
  int status = fi_fabric(fabric->info->fabric_attr, &fabric->fabric, NULL);
  if (status == 0) {
    doing = "fi_domain";
    status = fi_domain(fabric->fabric, fabric->info, &fabric->domain, NULL);
  }
  if (status == 0) {
    doing = "fi_eq_open";
    status = fi_eq_open(fabric->fabric, &attr, &fabric->eq, NULL);
  }
  if (status == 0)
    status = fi_control(&fabric->eq->fid, FI_GETWAIT, &fabric->eq_fd);
  if (status == 0) {
    doing = "fi_passive_ep";
    status = fi_passive_ep(fabric->fabric, fabric->info, &fabric->pep, NULL);
  }
  if (status == 0)
    status = fi_pep_bind(fabric->pep, &fabric->eq->fid, 0);
  if (status == 0) {
    doing = "listen";
    status = fi_listen(fabric->pep);
  }
  if (status == 0)
    return GFSMITH_OK;
  gfc_words(reason, "%s port %u: %s: %s", options->host, options->port, doing,
            fi_strerror(-status));
  return GFSMITH_EFABRIC;
}

int gfc_fabric_open(gfc_fabric *fabric, const gfsmith_node_options *options, char *reason) {
  struct sockaddr_storage address;
  *fabric = (gfc_fabric){.eq_fd = -1};
  if (!gfc_address(&address, options->host, options->port)) {
    gfc_words(reason, "host: %s is not a numeric address", options->host);
    return GFSMITH_EINVAL;
  }
  struct fi_info *hints = hints_for(options);
  if (hints == NULL)
    return GFSMITH_ENOMEM;
  int status = choose(fabric, hints, options, reason);
  fi_freeinfo(hints);
  if (status != GFSMITH_OK)
    return status;
  const struct fi_tx_attr *tx = fabric->info->tx_attr;
  fabric->pieces = tx->rma_iov_limit < tx->iov_limit ? tx->rma_iov_limit : tx->iov_limit;
  if (fabric->pieces == 0)
    fabric->pieces = 1;
  return listen_there(fabric, options, reason);
}

static void close_one(struct fid *fid) {
  if (fid != NULL)
    fi_close(fid);
}

/* Reject peers that still want to connect; nothing else frees the data that they have sent. This
 * must happen before the listening endpoint is closed, because tcp accesses the endpoint when it
 * reads events. */
static void turn_away(gfc_fabric *fabric) {
  enum { EVENTS = 4096 };
  gfc_event read;
  for (unsigned i = 0; i < EVENTS; i++) {
    uint32_t kind = 0;
    struct fi_eq_err_entry error = {0};
    ssize_t count = fi_eq_read(fabric->eq, &kind, &read, sizeof read, 0);
    if (count == -FI_EAVAIL)
      count = fi_eq_readerr(fabric->eq, &error, 0);
    else if (count >= (ssize_t)sizeof read.entry && kind == FI_CONNREQ) {
      fi_reject(fabric->pep, read.entry.info->handle, NULL, 0);
      fi_freeinfo(read.entry.info);
    }
    if (count < 0)
      return;
  }
}

void gfc_fabric_close(gfc_fabric *fabric) {
  if (fabric->pep != NULL)
    turn_away(fabric);
  close_one(fabric->pep != NULL ? &fabric->pep->fid : NULL);
  close_one(fabric->eq != NULL ? &fabric->eq->fid : NULL);
  close_one(fabric->domain != NULL ? &fabric->domain->fid : NULL);
  close_one(fabric->fabric != NULL ? &fabric->fabric->fid : NULL);
  fi_freeinfo(fabric->info);
  *fabric = (gfc_fabric){.eq_fd = -1};
}

uint16_t gfc_fabric_address(const gfc_fabric *fabric, struct sockaddr_storage *address) {
  size_t bytes = sizeof *address;
  *address = (struct sockaddr_storage){0};
  if (fi_getname(&fabric->pep->fid, address, &bytes) != 0)
    return 0;
  if (address->ss_family == AF_INET6)
    return ntohs(((struct sockaddr_in6 *)address)->sin6_port);
  return ntohs(((struct sockaddr_in *)address)->sin_port);
}

struct fi_info *gfc_fabric_towards(const gfc_fabric *fabric,
                                   const struct sockaddr_storage *address) {
  bool six = address->ss_family == AF_INET6;
  size_t bytes = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
  struct fi_info *info = fi_dupinfo(fabric->info);
  if (info == NULL)
    return NULL;
  /* Our own address carries the port on which we listen: the provider picks a free one. */
  free(info->src_addr);
  info->src_addr = NULL;
  info->src_addrlen = 0;
  free(info->dest_addr);
  info->addr_format = six ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
  info->dest_addrlen = bytes;
  info->dest_addr = malloc(bytes);
  if (info->dest_addr == NULL) {
    fi_freeinfo(info);
    return NULL;
  }
  memcpy(info->dest_addr, address, bytes);
  return info;
}

bool gfc_address(struct sockaddr_storage *address, const char *host, uint16_t port) {
  memset(address, 0, sizeof *address);
  struct sockaddr_in *four = (struct sockaddr_in *)address;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
  if (host == NULL)
    return false;
  if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return true;
  }
  if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
    return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  return true;
}

/* ---- registration: memory that our writes read, or that peers may write ---- */

/* A random key that cannot be guessed, of the length of the provider's keys. */
static uint64_t fresh_key(const gfc_fabric *fabric) {
  size_t bytes = fabric->info->domain_attr->mr_key_size;
  uint64_t key;
  randombytes_buf(&key, sizeof key);
  return bytes >= sizeof key ? key : key & ((UINT64_C(1) << (8 * bytes)) - 1);
}

static int try_register(gfc_fabric *fabric, void *memory, size_t bytes, unsigned purpose,
                        bool event, struct fid_mr **mr) {
  uint64_t access = (purpose & GFC_SOURCE ? FI_WRITE | FI_SEND | FI_RECV : 0) |
                    (purpose & GFC_TARGET ? FI_REMOTE_WRITE : 0);
  int status = -FI_ENOKEY;
  /* If the key is taken already, try another one. */
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

void gfc_unregister(gfc_registration *registration) {
  struct fid_mr *mr = registration->mr;
  if (mr != NULL)
    fi_close(&mr->fid);
  *registration = (gfc_registration){0};
}
