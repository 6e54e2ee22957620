/* Peers in other processes: killed at any moment, stopped, restarted. */
#include "cases.h"
#include "transfer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 4 << 20, SLICE = 64 << 10, CHILD = 1 };

/* The child: rank 1, which connects to rank 0 and forwards from rank 0 to rank 2, job after job. */
static void forward(gfsmith_node *node, uint64_t job) {
  gfsmith_calc calc = {.calculator = GFSMITH_XOR, .outputs = 1};
  gfsmith_source source = {0, 0};
  gfsmith_target target = {2, 1, 0};
  gfsmith_memory memory = {.length = LENGTH, .slice = SLICE};
  gfsmith_job what = {job, 7, 60000};
  gfsmith_operation *operation;
  gfsmith_notice notice = {NULL, NULL, &operation};
  REQUIRE(gfsmith_recv_ec_send(node, &what, &(gfsmith_wait){1, &source}, &calc, &memory,
                               &(gfsmith_stripe){1, &target}, &notice) == GFSMITH_OK,
          "forward");
  while (!gfsmith_operation_wait(operation, 60000, NULL))
    continue;
  gfsmith_operation_release(operation);
}

static void child(const char *provider, const network *net, uint64_t job, uint16_t *port,
                  int ready) {
  gfsmith_node *node;
  network_node(&node, provider, CHILD, 0);
  *port = gfsmith_node_port(node);
  REQUIRE(gfsmith_node_peer(node, 0, "127.0.0.1", net->port[0]) == GFSMITH_OK, "peer");
  REQUIRE(write(ready, port, sizeof *port) == sizeof *port, "port");
  for (;; job++)
    forward(node, job);
}

typedef struct peer {
  pid_t pid;
  uint16_t port;
} peer;

/* Starts a process with rank 1 that begins with this job. The fork happens in a thread that holds
 * no lock, and the child creates its own node, without using ours. */
static peer start(const char *provider, const char *self, network *net, uint64_t job) {
  peer made;
  int ends[2];
  char words[3][32];
  REQUIRE(pipe(ends) == 0, "pipe");
  snprintf(words[0], sizeof words[0], "%u", net->port[0]);
  snprintf(words[1], sizeof words[1], "%llu", (unsigned long long)job);
  snprintf(words[2], sizeof words[2], "%d", ends[1]);
  made.pid = fork();
  if (made.pid == 0) {
    execl(self, self, provider, "child", words[0], words[1], words[2], (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  REQUIRE(read(ends[0], &made.port, sizeof made.port) == sizeof made.port, "child");
  close(ends[0]);
  gfsmith_node_peer(net->node[2], CHILD, "127.0.0.1", made.port);
  network_wait(net, 0, CHILD, true);
  network_wait(net, 2, CHILD, true);
  return made;
}

void child_main(const char *provider, char **words) {
  network net = {.port = {(uint16_t)strtoul(words[0], NULL, 10)}};
  uint16_t port;
  child(provider, &net, strtoull(words[1], NULL, 10), &port, (int)strtol(words[2], NULL, 10));
}

static void end(peer *peer) {
  kill(peer->pid, SIGKILL);
  REQUIRE(waitpid(peer->pid, NULL, 0) == peer->pid, "wait");
}

/* Ranks 0 and 2 are in this process, 1 is a child. */
static void create(network *net, const char *provider) {
  *net = (network){.nodes = 3};
  for (unsigned rank = 0; rank < 3; rank += 2) {
    network_node(&net->node[rank], provider, (uint16_t)rank, 0);
    net->port[rank] = gfsmith_node_port(net->node[rank]);
  }
}

/* Posts both ends of a job and lets the child do the middle until it is killed `us` microseconds
 * later, which may be after its end. 0: it is stopped before. */
static unsigned kill_after(network *net, peer *peer, uint64_t job, long us) {
  transfer from = transfer_make(job, LENGTH, SLICE), to = transfer_make(job, LENGTH, SLICE);
  from.job.deadline_ms = to.job.deadline_ms = 60000;
  struct timespec nap = {0, us * 1000};
  if (us == 0)
    kill(peer->pid, SIGSTOP);
  transfer_receive(&to, net->node[2], CHILD, 1);
  transfer_send(&from, net->node[0], CHILD, 0);
  nanosleep(&nap, NULL);
  end(peer);
  int status = transfer_end_either(&to, GFSMITH_OK, GFSMITH_EPEER);
  status |= transfer_end_either(&from, GFSMITH_OK, GFSMITH_EPEER);
  network_wait(net, 0, CHILD, false); /* so that the next one is not taken for it */
  network_wait(net, 2, CHILD, false);
  transfer_free(&from);
  transfer_free(&to);
  return status == GFSMITH_OK;
}

void killed(const char *provider, const char *self) {
  static const long moments[] = {0, 200, 700, 1500, 3000, 300000};
  network net;
  unsigned well = 0;
  create(&net, provider);
  for (uint64_t n = 0; n < sizeof moments / sizeof *moments; n++) {
    peer peer = start(provider, self, &net, 10 * n);
    /* A successful job shows that a killed peer is back. */
    transfer from = transfer_make(10 * n, LENGTH, SLICE), to = transfer_make(10 * n, LENGTH, SLICE);
    transfer_receive(&to, net.node[2], CHILD, 1);
    transfer_send(&from, net.node[0], CHILD, 0);
    transfer_end(&to, GFSMITH_OK, -1);
    transfer_end(&from, GFSMITH_OK, -1);
    transfer_free(&from);
    transfer_free(&to);
    well += kill_after(&net, &peer, 10 * n + 1, moments[n]);
  }
  REQUIRE(well < sizeof moments / sizeof *moments, "no job was interrupted");
  gfsmith_node_destroy(net.node[0]);
  gfsmith_node_destroy(net.node[2]);
}

/* A stopped peer: its links stay up, and it sends nothing. The deadline ends the operation. */
void stopped(const char *provider, const char *self) {
  network net;
  create(&net, provider);
  peer peer = start(provider, self, &net, 1);
  transfer from = transfer_make(1, LENGTH, SLICE), to = transfer_make(1, LENGTH, SLICE);
  from.job.deadline_ms = to.job.deadline_ms = 500;
  kill(peer.pid, SIGSTOP);
  transfer_receive(&to, net.node[2], CHILD, 1);
  transfer_send(&from, net.node[0], CHILD, 0);
  transfer_end(&to, GFSMITH_ETIMEDOUT, CHILD);
  transfer_end(&from, GFSMITH_ETIMEDOUT, CHILD);
  end(&peer);
  transfer_free(&from);
  transfer_free(&to);
  gfsmith_node_destroy(net.node[0]);
  gfsmith_node_destroy(net.node[2]);
}
