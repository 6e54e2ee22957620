/* The libfabric objects of a node: provider, domain, event queue, and the listening endpoint. */
#ifndef GFC_FABRIC_H
#define GFC_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "gfsmith_compose.h"
#include "registration.h"

typedef struct gfc_fabric {
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_eq *eq;
  struct fid_pep *pep;
  int eq_fd;
  bool triggers; /* FI_TRIGGER and FI_RMA_EVENT */
  bool delivers; /* FI_DELIVERY_COMPLETE */
  size_t pieces; /* most pieces of one write */
} gfc_fabric;

/* An event with the data that a peer may attach to it, of the largest size that any provider
 * accepts. */
enum { GFC_EVENT_DATA = 512 };
typedef union gfc_event {
  struct fi_eq_cm_entry entry;
  uint8_t bytes[sizeof(struct fi_eq_cm_entry) + GFC_EVENT_DATA];
} gfc_event;

/* Open the provider and address named in the options, and listen. GFSMITH_EUNSUPPORTED,
 * GFSMITH_EFABRIC, GFSMITH_EINVAL with the reason; gfc_fabric_close is needed then too. */
int gfc_fabric_open(gfc_fabric *fabric, const gfsmith_node_options *options, char *reason);
void gfc_fabric_close(gfc_fabric *fabric);
/* Get the address of the listening endpoint, and return its port; 0 if the provider does not report
 * it. */
uint16_t gfc_fabric_address(const gfc_fabric *fabric, struct sockaddr_storage *address);
/* The information for creating an endpoint to this address; the caller frees it with fi_freeinfo.
 * NULL: out of memory. */
struct fi_info *gfc_fabric_towards(const gfc_fabric *fabric,
                                   const struct sockaddr_storage *address);
/* gfc_register (link.h) of this fabric; gfc_unregister is in registration.h. Any thread. */
int gfc_fabric_register(gfc_fabric *fabric, void *memory, size_t bytes, unsigned purpose,
                        struct fid_cntr *counter, gfc_registration *registration);

/* Read a numeric address and a port. False: the address does not parse. */
bool gfc_address(struct sockaddr_storage *address, const char *host, uint16_t port);

#endif
