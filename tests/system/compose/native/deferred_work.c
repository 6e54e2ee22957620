/* deferred_work PROVIDER: does the provider run work from a deferred work queue (fi_trigger(3))?
 * The work adds 7 to a second counter when the first one reaches 1. Prints one line: "runs it", or
 * the call that failed and its reason. */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_trigger.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THRESHOLD = 1, ADDED = 7, MILLISECONDS = 5000 };

static void require(const char *call, int result) {
  if (result != 0) {
    printf("%s: %s\n", call, fi_strerror(-result));
    exit(0);
  }
}

static struct fid_domain *open_domain(const char *provider) {
  struct fi_info *hints = fi_allocinfo(), *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  hints->fabric_attr->prov_name = strdup(provider);
  hints->mode = ~UINT64_C(0);
  hints->domain_attr->mode = ~UINT64_C(0);
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  require("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, 0, hints, &info));
  require("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
  require("fi_domain", fi_domain(fabric, info, &domain, NULL));
  return domain;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  struct fid_domain *domain = open_domain(argv[1]);
  struct fi_cntr_attr attributes = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
  struct fid_cntr *first, *second;
  require("fi_cntr_open", fi_cntr_open(domain, &attributes, &first, NULL));
  require("fi_cntr_open", fi_cntr_open(domain, &attributes, &second, NULL));
  struct fi_op_cntr add = {.cntr = second, .value = ADDED};
  struct fi_deferred_work work = {.threshold = THRESHOLD, .triggering_cntr = first};
  work.op_type = FI_OP_CNTR_ADD;
  work.op.cntr = &add;
  require("FI_QUEUE_WORK", fi_control(&domain->fid, FI_QUEUE_WORK, &work));
  bool early = fi_cntr_read(second) != 0;
  require("fi_cntr_add", fi_cntr_add(first, THRESHOLD));
  require("fi_cntr_wait", fi_cntr_wait(second, ADDED, MILLISECONDS));
  puts(early ? "runs it before the threshold" : "runs it");
  return 0;
}
