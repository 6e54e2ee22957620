/* Lives of two nodes, in which every single call of the functions below fails in turn: those of the
 * system for threads, locks and events, and those of libfabric that open, bind, connect and post.
 * Calls of passive endpoints and of counters are not among them. */
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include "life.h"

/* ---- the system ---- */

#define WRAPPED(type, name, failed, parameters, arguments)                                         \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters { return fails() ? (failed) : __real_##name arguments; }

WRAPPED(int, pthread_mutex_init, ENOMEM,
        (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes))
WRAPPED(int, pthread_cond_init, ENOMEM,
        (pthread_cond_t * condition, const pthread_condattr_t *attributes), (condition, attributes))
WRAPPED(int, pthread_create, EAGAIN,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
        (thread, attributes, run, context))
WRAPPED(int, eventfd, (errno = EMFILE, -1), (unsigned count, int flags), (count, flags))
WRAPPED(int, epoll_create1, (errno = EMFILE, -1), (int flags), (flags))
WRAPPED(int, epoll_ctl, (errno = ENOSPC, -1),
        (int epoll, int operation, int fd, struct epoll_event *event),
        (epoll, operation, fd, event))

/* ---- libfabric: exported functions, and tables of functions ---- */

WRAPPED(int, fi_getinfo, -FI_ENOMEM,
        (uint32_t version, const char *node, const char *service, uint64_t flags,
         const struct fi_info *hints, struct fi_info **info),
        (version, node, service, flags, hints, info))
WRAPPED(struct fi_info *, fi_dupinfo, NULL, (const struct fi_info *info), (info))

/* A table of the provider and its copy with our functions, for all objects of one kind. */
#define TABLE(kind)                                                                                \
  static struct kind *true_##kind;                                                                 \
  static struct kind our_##kind
TABLE(fi_ops_fabric);
TABLE(fi_ops_domain);
TABLE(fi_ops_mr);
TABLE(fi_ops_msg);
TABLE(fi_ops_rma);
TABLE(fi_ops_cm); /* of connections, as the next one */
TABLE(fi_ops);

/* Objects of a kind with another table than the first one keep it. */
#define REPLACE(kind, at)                                                                          \
  do {                                                                                             \
    if (true_##kind == NULL) {                                                                     \
      true_##kind = (at);                                                                          \
      our_##kind = *(at);                                                                          \
      adapt_##kind(&our_##kind);                                                                   \
    }                                                                                              \
    if ((at) == true_##kind)                                                                       \
      (at) = &our_##kind;                                                                          \
  } while (0)

static int reg(struct fid *fid, const void *memory, size_t length, uint64_t access, uint64_t offset,
               uint64_t key, uint64_t flags, struct fid_mr **mr, void *context) {
  return fails()
             ? -FI_ENOMEM
             : true_fi_ops_mr->reg(fid, memory, length, access, offset, key, flags, mr, context);
}
static void adapt_fi_ops_mr(struct fi_ops_mr *ops) { ops->reg = reg; }

static ssize_t receive(struct fid_ep *ep, void *buffer, size_t length, void *desc, fi_addr_t from,
                       void *context) {
  return fails() ? -FI_EIO : true_fi_ops_msg->recv(ep, buffer, length, desc, from, context);
}
static ssize_t send_bytes(struct fid_ep *ep, const void *buffer, size_t length, void *desc,
                          fi_addr_t to, void *context) {
  return fails() ? -FI_EIO : true_fi_ops_msg->send(ep, buffer, length, desc, to, context);
}
static void adapt_fi_ops_msg(struct fi_ops_msg *ops) {
  ops->recv = receive;
  ops->send = send_bytes;
}

static ssize_t write_msg(struct fid_ep *ep, const struct fi_msg_rma *message, uint64_t flags) {
  return fails() ? -FI_EIO : true_fi_ops_rma->writemsg(ep, message, flags);
}
static void adapt_fi_ops_rma(struct fi_ops_rma *ops) { ops->writemsg = write_msg; }

static int connect_to(struct fid_ep *ep, const void *address, const void *greeting, size_t bytes) {
  return fails() ? -FI_ENOMEM : true_fi_ops_cm->connect(ep, address, greeting, bytes);
}
static int accept_from(struct fid_ep *ep, const void *greeting, size_t bytes) {
  return fails() ? -FI_ENOMEM : true_fi_ops_cm->accept(ep, greeting, bytes);
}
static void adapt_fi_ops_cm(struct fi_ops_cm *ops) {
  ops->connect = connect_to;
  ops->accept = accept_from;
}

static int bind_to(struct fid *fid, struct fid *to, uint64_t flags) {
  return fails() ? -FI_ENOMEM : true_fi_ops->bind(fid, to, flags);
}
static int control(struct fid *fid, int command, void *argument) {
  return fails() ? -FI_ENOMEM : true_fi_ops->control(fid, command, argument);
}
static void adapt_fi_ops(struct fi_ops *ops) {
  ops->bind = bind_to;
  ops->control = control;
}

static int endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                    void *context) {
  int status = fails() ? -FI_ENOMEM : true_fi_ops_domain->endpoint(domain, info, ep, context);
  if (status == 0) {
    REPLACE(fi_ops_msg, (*ep)->msg);
    REPLACE(fi_ops_rma, (*ep)->rma);
    REPLACE(fi_ops_cm, (*ep)->cm);
    REPLACE(fi_ops, (*ep)->fid.ops);
  }
  return status;
}
static int cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                   void *context) {
  return fails() ? -FI_ENOMEM : true_fi_ops_domain->cq_open(domain, attr, cq, context);
}
static void adapt_fi_ops_domain(struct fi_ops_domain *ops) {
  ops->endpoint = endpoint;
  ops->cq_open = cq_open;
}

static int domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **made,
                  void *context) {
  int status = fails() ? -FI_ENOMEM : true_fi_ops_fabric->domain(fabric, info, made, context);
  if (status == 0) {
    REPLACE(fi_ops_domain, (*made)->ops);
    REPLACE(fi_ops_mr, (*made)->mr);
  }
  return status;
}
static int passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
                      void *context) {
  return fails() ? -FI_ENOMEM : true_fi_ops_fabric->passive_ep(fabric, info, pep, context);
}
static int eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
                   void *context) {
  return fails() ? -FI_ENOMEM : true_fi_ops_fabric->eq_open(fabric, attr, eq, context);
}
static void adapt_fi_ops_fabric(struct fi_ops_fabric *ops) {
  ops->domain = domain;
  ops->passive_ep = passive_ep;
  ops->eq_open = eq_open;
}

int __real_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int __wrap_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int __wrap_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context) {
  int status = fails() ? -FI_ENOMEM : __real_fi_fabric(attr, fabric, context);
  if (status == 0)
    REPLACE(fi_ops_fabric, (*fabric)->ops);
  return status;
}

int main(void) {
  lives_print("calls");
  return 0;
}
