/* libfabric's objects of a node: provider, domain, event queue, and the endpoint that listens. */
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

#include "link.h"

typedef struct gfc_fabric {
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_eq *eq;
  struct fid_pep *pep;
  int eq_fd;
  bool triggers; /* FI_TRIGGER and FI_RMA_EVENT */
  bool delivers; /* FI_DELIVERY_COMPLETE */
  size_t pieces; /* that one write may have */
} gfc_fabric;

/* An event with what a peer may add to it: room for all that a provider takes. */
enum { GFC_EVENT_DATA = 512 };
typedef union gfc_event {
  struct fi_eq_cm_entry entry;
  uint8_t bytes[sizeof(struct fi_eq_cm_entry) + GFC_EVENT_DATA];
} gfc_event;

/* Open what options name and listen. GFSMITH_EUNSUPPORTED, GFSMITH_EFABRIC, GFSMITH_EINVAL with the
 * reason; gfc_fabric_close is needed then too. */
int gfc_fabric_open(gfc_fabric *fabric, const gfsmith_node_options *options, char *reason);
void gfc_fabric_close(gfc_fabric *fabric);
/* The port that it listens on; 0 if the provider does not say. */
uint16_t gfc_fabric_port(const gfc_fabric *fabric);
/* What an endpoint to this address is made of: to be freed with fi_freeinfo. NULL: no memory. */
struct fi_info *gfc_fabric_towards(const gfc_fabric *fabric,
                                   const struct sockaddr_storage *address);
int gfc_fabric_register(gfc_fabric *fabric, void *memory, size_t bytes, unsigned purpose,
                        struct fid_cntr *counter, gfc_registration *registration);

/* An address in numbers and a port. False: it does not parse. */
bool gfc_address(struct sockaddr_storage *address, const char *host, uint16_t port);

#endif
