/** @file
 * Distributed erasure coding: primitives that receive shards, compute and send in one operation.
 * docs/compose/guide.md shows their use. They are in a separate library, `gfsmith-compose`, on top
 * of `gfsmith` and libfabric.
 *
 * The primitives are those of INEC (In-Network Erasure Coding, SC 2020, section III): ec/xor-send,
 * recv-ec/xor-send and recv-ec/xor. They suffice for encoding and repair with Reed-Solomon and
 * local codes, partial parallel repair (PPR), repair pipelining (ECPipe) and tripartite graphs
 * (TriEC). A graph assigns the parts of a linear map over GF(2^8) to nodes; `gfsmith_graph_post`
 * posts the primitive of one node.
 *
 * A *node* is the network endpoint of one process. It has a rank, an engine (a thread) and a link
 * to every peer. Posting an operation does not block. The outcome is reported once,
 * by a callback in the engine's thread, by gfsmith_operation_wait, or by both. Every operation has
 * a deadline.
 *
 * Links are authenticated with a key that all nodes share: when they are made, and then every
 * message and every slice of data. Data on a link are not encrypted. docs/compose/security.md names
 * the threats that remain.
 */
#ifndef GFSMITH_COMPOSE_H
#define GFSMITH_COMPOSE_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GFSMITH_RANKS_MAX 1024   /**< ranks are 0 to 1023 */
#define GFSMITH_EDGES_MAX 4096   /**< edges (transfers) of one job are numbered 0 to 4095 */
#define GFSMITH_SLICES_MAX 65536 /**< most slices of one transfer */
#define GFSMITH_MESSAGE_MAX 4096 /**< most bytes of a message */
#define GFSMITH_KEY_MIN 16       /**< least bytes of a key */
#define GFSMITH_KEY_MAX 64       /**< most bytes of a key */
#define GFSMITH_REASON_MAX 256   /**< most bytes of an error description, with its zero byte */

/** Status codes in addition to those of gfsmith_status. The functions below return both kinds, as
 * int. */
typedef enum gfsmith_compose_status {
  GFSMITH_ETIMEDOUT = -32, /**< the deadline has passed */
  GFSMITH_EPEER = -33,     /**< a peer has gone down or cannot be reached */
  GFSMITH_EAUTH = -34,    /**< a peer does not have the key, or claims a rank that is not its own */
  GFSMITH_ECORRUPT = -35, /**< data or a message was changed, repeated or left out */
  GFSMITH_EMISMATCH =
      -36, /**< a peer has another code, graph, length or slice: the hashes differ */
  GFSMITH_ECANCELED = -37, /**< canceled here or by a peer, or the node is being destroyed */
  GFSMITH_EFABRIC = -38,   /**< libfabric's provider failed */
  GFSMITH_ELIMIT = -39     /**< the shards in transit need more memory than the node may use */
} gfsmith_compose_status;

/** Describe a status of either kind.
 *
 * @param status a gfsmith_status or a gfsmith_compose_status
 * @return a short English sentence; never NULL */
GFSMITH_API const char *gfsmith_compose_strerror(int status);

/* ---- nodes ---------------------------------------------------------------------------------- */

/** The network endpoint of one process. */
typedef struct gfsmith_node gfsmith_node;

/** Handler that the engine's thread calls when a link to a peer comes up or goes down. It must not
 * block. */
typedef void gfsmith_link_handler(void *context, uint16_t rank, bool up);
/** Handler that the engine's thread calls with a message from a peer; `bytes` is valid during the
 * call only. It must not block. */
typedef void gfsmith_message_handler(void *context, uint16_t rank, const void *bytes,
                                     size_t length);

/** The computation of an operation. Its inputs are the local shards followed by the received
 * shards, in the order of their descriptors. */
typedef enum gfsmith_calculator {
  GFSMITH_FORWARD = 0, /**< no computation: output i is input i */
  GFSMITH_XOR = 1,     /**< one output, the XOR of all inputs */
  GFSMITH_EC = 2       /**< output[i] = sum over j of matrix[i][j] * input[j] */
} gfsmith_calculator;

/** The primitives of INEC, and thus the three kinds of operations. */
typedef enum gfsmith_primitive {
  GFSMITH_EC_SEND = 0,      /**< ec/xor-send: receives nothing */
  GFSMITH_RECV_EC_SEND = 1, /**< recv-ec/xor-send */
  GFSMITH_RECV_EC = 2       /**< recv-ec/xor: sends nothing */
} gfsmith_primitive;

/** Duration of an operation, and counts of its work: the metrics of the paper's Table I. The engine
 * counts while it works. Links have further messages, for credits and for failures, which belong
 * to no operation and are not counted. */
typedef struct gfsmith_trace {
  uint64_t job;                  /**< id of the job */
  uint64_t hash;                 /**< hash of the job */
  gfsmith_primitive primitive;   /**< the primitive */
  gfsmith_calculator calculator; /**< the computation, as requested */
  bool incoherent;               /**< run by gfsmith_incoherent */
  int status;                    /**< of the outcome */
  uint64_t nanoseconds;          /**< from the call until the outcome was known */
  size_t length;                 /**< bytes of a shard */
  size_t slices;                 /**< slices of a shard */
  unsigned receives;             /**< shards to receive */
  unsigned sends;                /**< shards to send */
  uint64_t products;          /**< bytes that the kernel multiplied (or not, for a 1) and added */
  uint64_t copied;            /**< bytes copied from one address of this process to another */
  uint64_t messages_sent;     /**< control messages: grants and receipts */
  uint64_t messages_received; /**< as before */
  uint64_t writes_sent;       /**< slices written to peers */
  uint64_t writes_received;   /**< slices that arrived */
  uint64_t bytes_sent;        /**< bytes of shards written to peers */
  uint64_t bytes_received;    /**< bytes of shards that arrived */
  uint64_t
      involvements; /**< actions of the caller's thread: it hands work to the engine, or waits */
  uint64_t activations; /**< arrivals that the engine awaited, and writes that it started, on behalf
                           of the caller (the WAITs of the paper); 0 for gfsmith_incoherent */
} gfsmith_trace;

/** Handler that is called when an operation has ended, before its outcome is reported: in the
 * engine's thread, or for gfsmith_incoherent in the caller's thread. It must not block. `trace` is
 * valid during the call only. */
typedef void gfsmith_trace_handler(void *context, const gfsmith_trace *trace);

/** Settings of a node. gfsmith_node_defaults writes the values in brackets. */
typedef struct gfsmith_node_options {
  size_t size;          /**< size of this struct in bytes, as written by gfsmith_node_defaults */
  const char *provider; /**< a libfabric provider with message endpoints: "tcp", "sockets", "verbs"
                           ["tcp"] */
  const char *host;     /**< numeric address to listen on ["127.0.0.1"] */
  uint16_t port;        /**< port to listen on; 0: any free port [0] */
  uint16_t rank;        /**< this node's rank [0] */
  const uint8_t *key;   /**< the shared key, GFSMITH_KEY_MIN to GFSMITH_KEY_MAX bytes, copied [none:
                           required] */
  size_t key_bytes;     /**< length of the key in bytes */
  unsigned deadline_ms; /**< default deadline of operations, 1 to 86,400,000 [30000] */
  unsigned connect_ms;  /**< time limit for setting up and authenticating a connection, 1 to
                           86,400,000 [2000] */
  size_t memory;        /**< most bytes that the node allocates for shards in transit [1 GiB] */
  bool triggers;        /**< use triggered operations if the provider supports them, at all nodes or
                           at none: slices of data have no authentication codes then [false] */
  gfsmith_link_handler *link;       /**< called when a link comes up or goes down [NULL] */
  gfsmith_message_handler *message; /**< called with messages [NULL: they are dropped] */
  gfsmith_trace_handler *trace;     /**< called when an operation has ended [NULL] */
  void *context;                    /**< first argument of the handlers [NULL] */
} gfsmith_node_options;

/** Write the default settings.
 *
 * @param options where they go */
GFSMITH_API void gfsmith_node_defaults(gfsmith_node_options *options);

/** Create a node and listen. Programs that this one executes do not inherit the port and the links
 * that are up, with the provider "tcp". A child after fork() must not use the node, not even to
 * destroy it; until it ends or executes a program, it keeps the port and the links.
 *
 * @param out where the node goes, written before the first call of a handler; on failure *out =
 *     NULL
 * @param options initialized by gfsmith_node_defaults
 * @param reason GFSMITH_REASON_MAX bytes for an English description of the error, or NULL
 * @return GFSMITH_EINVAL (an option out of range; the reason names it), GFSMITH_EUNSUPPORTED (no
 *     such provider), GFSMITH_EFABRIC (the address is not available), GFSMITH_ENOMEM */
GFSMITH_API int gfsmith_node_create(gfsmith_node **out, const gfsmith_node_options *options,
                                    char *reason);

/** Cancel all posted operations, close all links and stop the engine. NULL is allowed. Must not be
 * called from a callback.
 *
 * @param node the node, or NULL */
GFSMITH_API void gfsmith_node_destroy(gfsmith_node *node);

/** Return the rank of a node.
 *
 * @param node the node
 * @return its rank */
GFSMITH_API uint16_t gfsmith_node_rank(const gfsmith_node *node);
/** Return the port on which a node listens.
 *
 * @param node the node
 * @return its port */
GFSMITH_API uint16_t gfsmith_node_port(const gfsmith_node *node);
/** Return whether the provider of a node supports triggered operations.
 *
 * @param node the node
 * @return true if it supports them */
GFSMITH_API bool gfsmith_node_triggers(const gfsmith_node *node);

/** Set the address of a peer, also after it has changed. Of two nodes, the one with the higher rank
 * connects; it repeats failed attempts (after 10 ms, doubled up to 1 s) as long as it has
 * the address. The node with the lower rank accepts the connection and needs no address for that.
 *
 * @param node the node
 * @param rank the rank of the peer
 * @param host the numeric address of the peer
 * @param port the port of the peer
 * @return GFSMITH_EINVAL (own rank, rank out of range, an invalid address), GFSMITH_ENOMEM */
GFSMITH_API int gfsmith_node_peer(gfsmith_node *node, uint16_t rank, const char *host,
                                  uint16_t port);
/** Replace the shared key, without closing links. New links use the new key; links of the previous
 * one continue and are renewed at the latest 10 s after both ends have the new key. As long as a
 * node has a previous key, it accepts peers with either key, and tries both. Links of other keys
 * are closed. docs/compose/security.md has the procedure.
 *
 * @param node the node
 * @param key the new key, GFSMITH_KEY_MIN to GFSMITH_KEY_MAX bytes, copied
 * @param key_bytes its length in bytes
 * @param previous the previous key, or NULL
 * @param previous_bytes its length in bytes; 0: there is none
 * @return GFSMITH_EINVAL (a length that is not allowed), GFSMITH_ENOMEM */
GFSMITH_API int gfsmith_node_rekey(gfsmith_node *node, const uint8_t *key, size_t key_bytes,
                                   const uint8_t *previous, size_t previous_bytes);
/** Return the number of links that are up and do not use the current key yet. It is not 0 while the
 * engine has not yet handled a call of gfsmith_node_rekey.
 *
 * @param node the node
 * @return their number */
GFSMITH_API unsigned gfsmith_node_old_links(const gfsmith_node *node);
/** Return whether there is an authenticated link to a peer now.
 *
 * @param node the node
 * @param rank the rank of the peer
 * @return true if there is one */
GFSMITH_API bool gfsmith_node_connected(const gfsmith_node *node, uint16_t rank);
/** Return why there is no link to a peer. May be called only by a link handler.
 *
 * @param node the node
 * @param rank the rank of the peer
 * @param reason GFSMITH_REASON_MAX bytes for an English description
 * @return the status of the last loss or attempt, for example GFSMITH_ECORRUPT if somebody has
 *     changed the traffic; GFSMITH_OK if there was none, or there is a link */
GFSMITH_API int gfsmith_node_trouble(const gfsmith_node *node, uint16_t rank, char *reason);

/** Send a short message to a peer. The messages of a link arrive in order and exactly once, or the
 * link goes down. May be called from any thread, also from callbacks.
 *
 * @param node the node
 * @param rank the rank of the peer
 * @param bytes the message
 * @param length its bytes, 1 to GFSMITH_MESSAGE_MAX
 * @return GFSMITH_EPEER (no link now), GFSMITH_EINVAL (length 0 or over GFSMITH_MESSAGE_MAX),
 *     GFSMITH_ELIMIT (more than 16 MiB are queued for this peer), GFSMITH_ENOMEM */
GFSMITH_API int gfsmith_node_send(gfsmith_node *node, uint16_t rank, const void *bytes,
                                  size_t length);

/* ---- primitives ----------------------------------------------------------------------------- */

/** Parameters of a computation. */
typedef struct gfsmith_calc {
  gfsmith_calculator calculator; /**< the computation */
  unsigned polynomial; /**< of the field, irreducible and of degree 8, for example 0x11d */
  unsigned outputs;    /**< 1 to 255: rows of the matrix for EC, 1 for XOR, the number of inputs for
                          FORWARD */
  const uint8_t *matrix; /**< for EC: outputs x inputs elements, row-major; copied */
} gfsmith_calc;

/** Memory registered with the provider. Sends from such memory need no registration per operation.
 * Memory that peers write to is registered for each transfer in any case, so that a peer can write
 * only during its transfer. */
typedef struct gfsmith_region gfsmith_region;
/** Register memory.
 *
 * @param out where the region goes; on failure *out = NULL
 * @param node the node that sends from the memory
 * @param memory the first byte
 * @param bytes its size
 * @return GFSMITH_EINVAL (a NULL argument, no bytes), GFSMITH_ENOMEM, GFSMITH_EFABRIC */
GFSMITH_API int gfsmith_region_create(gfsmith_region **out, gfsmith_node *node, void *memory,
                                      size_t bytes);
/** Undo a registration, after all operations that use it.
 *
 * @param region the region */
GFSMITH_API void gfsmith_region_destroy(gfsmith_region *region);

/** The memory of an operation. All shards have `length` bytes; their memory must remain valid until
 * the operation has ended. An output must not overlap an input or another output, with one
 * exception: an output that equals an input (FORWARD, or a row of EC with a single 1) may be stored
 * in place. Every output must be stored or sent. If the operation fails, the contents of received
 * inputs and stored outputs are undefined. */
typedef struct gfsmith_memory {
  size_t length; /**< bytes of every shard; may be 0 */
  size_t slice;  /**< bytes of every shard that are received, computed and sent as a unit; 0: whole
                    shards */
  unsigned locals;             /**< number of inputs in local memory */
  const uint8_t *const *local; /**< their addresses */
  uint8_t *const *received; /**< an address for each received input; NULL, or a NULL entry: the node
                               allocates memory */
  uint8_t *const
      *output; /**< an address for each stored output; NULL, or a NULL entry: not stored */
} gfsmith_memory;

/** A shard to receive (an entry of the paper's wait descriptor). */
typedef struct gfsmith_source {
  uint16_t rank; /**< rank of the sender */
  uint16_t edge; /**< number of the edge in the job */
} gfsmith_source;
/** The shards to receive. */
typedef struct gfsmith_wait {
  unsigned count;               /**< number of shards */
  const gfsmith_source *source; /**< an entry for each of them */
} gfsmith_wait;

/** A shard to send (an entry of the paper's stripe descriptor). */
typedef struct gfsmith_target {
  uint16_t rank;   /**< rank of the receiver */
  uint16_t edge;   /**< number of the edge in the job */
  unsigned output; /**< index of the output to send */
} gfsmith_target;
/** The shards to send. */
typedef struct gfsmith_stripe {
  unsigned count;               /**< number of transfers */
  const gfsmith_target *target; /**< an entry for each of them */
} gfsmith_stripe;

/** The job that an operation belongs to. */
typedef struct gfsmith_job {
  uint64_t id;   /**< the same at all nodes for one run of a graph, different for different runs */
  uint64_t hash; /**< of the parameters that all nodes must agree on; a peer with another hash is
                    refused */
  unsigned deadline_ms; /**< counted from posting; 0: the deadline of the node */
} gfsmith_job;

/** The outcome of an operation. */
typedef struct gfsmith_outcome {
  int status; /**< GFSMITH_OK or the error */
  int rank;   /**< rank of the peer with which the error began, as far as known; -1: this node */
  char reason[GFSMITH_REASON_MAX]; /**< English description of the error */
} gfsmith_outcome;

/** Handle of an operation. */
typedef struct gfsmith_operation gfsmith_operation;
/** Callback with the outcome of an operation. */
typedef void gfsmith_done(void *context, const gfsmith_outcome *outcome);

/** Receivers of an outcome. `done` (may be NULL) is called in the engine's thread and must not
 * block. *operation (may be NULL) receives a handle, which the caller must release; it may do so at
 * any time, also after the node is destroyed. Calls of gfsmith_operation_wait return after the
 * callback has returned. */
typedef struct gfsmith_notice {
  gfsmith_done *done;            /**< callback, or NULL */
  void *context;                 /**< first argument of the callback */
  gfsmith_operation **operation; /**< where the handle goes, or NULL */
} gfsmith_notice;

/** ec/xor-send: compute on local shards and send the outputs. The operation is complete when the
 * peers have received and verified all outputs. May be called from any thread, also from callbacks.
 * All descriptors are copied; the shards are not.
 *
 * Limits: 255 inputs; GFSMITH_MAX_SHARDS inputs and computed outputs together; GFSMITH_EDGES_MAX
 * targets; GFSMITH_SLICES_MAX slices. A node cannot send to itself.
 *
 * @param node the node that runs the operation
 * @param job the job that the operation belongs to
 * @param calc the computation
 * @param memory the shards in memory
 * @param stripe the shards to send
 * @param notice receivers of the outcome; NULL: the outcome is not reported
 * @return GFSMITH_EINVAL (a descriptor is invalid or out of range), GFSMITH_ENOMEM, GFSMITH_ELIMIT,
 *     GFSMITH_ECANCELED (the node is being destroyed); nothing is posted then. An edge that is
 *     posted twice is reported in the outcome, as GFSMITH_EINVAL */
GFSMITH_API int gfsmith_ec_send(gfsmith_node *node, const gfsmith_job *job,
                                const gfsmith_calc *calc, const gfsmith_memory *memory,
                                const gfsmith_stripe *stripe, const gfsmith_notice *notice);
/** recv-ec/xor-send: receive shards, compute on local and received shards, send the outputs.
 * Otherwise as gfsmith_ec_send.
 *
 * @param node the node that runs the operation
 * @param job the job that the operation belongs to
 * @param wait the shards to receive
 * @param calc the computation
 * @param memory the shards in memory
 * @param stripe the shards to send
 * @param notice receivers of the outcome, or NULL
 * @return as gfsmith_ec_send */
GFSMITH_API int gfsmith_recv_ec_send(gfsmith_node *node, const gfsmith_job *job,
                                     const gfsmith_wait *wait, const gfsmith_calc *calc,
                                     const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                                     const gfsmith_notice *notice);
/** recv-ec/xor: receive shards, compute on local and received shards, store the outputs. Otherwise
 * as gfsmith_ec_send.
 *
 * @param node the node that runs the operation
 * @param job the job that the operation belongs to
 * @param wait the shards to receive; NULL or count 0: all inputs are local
 * @param calc the computation
 * @param memory the shards in memory
 * @param notice receivers of the outcome, or NULL
 * @return as gfsmith_ec_send */
GFSMITH_API int gfsmith_recv_ec(gfsmith_node *node, const gfsmith_job *job,
                                const gfsmith_wait *wait, const gfsmith_calc *calc,
                                const gfsmith_memory *memory, const gfsmith_notice *notice);

/** Run one of the three primitives in the calling thread: the incoherent baseline of the paper's
 * evaluation. For each slice the thread requests each shard, waits for it, computes, starts the
 * sends and waits for them. The call returns when the operation has ended. Peers see no difference.
 * Must not be called from a callback.
 *
 * @param node the node that runs the operation
 * @param job the job that the operation belongs to
 * @param wait the shards to receive; NULL: none
 * @param calc the computation
 * @param memory the shards in memory
 * @param stripe the shards to send; NULL: none
 * @param outcome written if the result is GFSMITH_OK; may be NULL
 * @return as gfsmith_ec_send */
GFSMITH_API int gfsmith_incoherent(gfsmith_node *node, const gfsmith_job *job,
                                   const gfsmith_wait *wait, const gfsmith_calc *calc,
                                   const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                                   gfsmith_outcome *outcome);

/** Wait until an operation has ended, at most `ms` milliseconds. Every operation ends at the latest
 * one second after its deadline (docs/compose/guide.md). In a callback this function returns
 * without waiting. If the waiting thread is cancelled (pthread_cancel), the operation goes on and
 * the handle stays valid.
 *
 * @param operation the handle
 * @param ms most milliseconds to wait
 * @param outcome written if the operation has ended; may be NULL
 * @return whether the operation has ended */
GFSMITH_API bool gfsmith_operation_wait(gfsmith_operation *operation, unsigned ms,
                                        gfsmith_outcome *outcome);
/** Cancel an operation that has not ended; its outcome is GFSMITH_ECANCELED. It may still be
 * running when this function returns.
 *
 * @param operation the handle */
GFSMITH_API void gfsmith_operation_cancel(gfsmith_operation *operation);
/** Release a handle; the operation continues.
 *
 * @param operation the handle, or NULL */
GFSMITH_API void gfsmith_operation_release(gfsmith_operation *operation);

/* ---- graphs --------------------------------------------------------------------------------- */

/** A dynamic erasure-coding graph (section III-D). A vertex is a node with its part of the matrix,
 * an edge is a transfer. */
typedef struct gfsmith_graph gfsmith_graph;

/** Description of a graph to create. Shards are numbered 0 to k - 1 (data), then k to k + m - 1
 * (parity). */
typedef struct gfsmith_graph_request {
  const char *scheme;         /**< "rs", "lrc", "triec"; for repair also "ppr" and "ecpipe" */
  const gfsmith_codec *codec; /**< the code, in ordinary layout */
  unsigned k;                 /**< data shards of the code */
  unsigned m;                 /**< parity shards of the code; k and m are compared with the codec */
  unsigned polynomial;        /**< of the field, compared with the codec; 0: GFSMITH_POLYNOMIAL */
  const uint16_t *holder;     /**< k + m ranks: the node that stores, or is to store, each shard */
  const bool *present;        /**< k + m flags: shards that are present; NULL: encode */
  const bool *wanted;         /**< k + m flags: shards to rebuild; NULL: every missing shard */
  const uint16_t *sink; /**< k + m ranks: receivers of the rebuilt shards; NULL: their holders */
  uint16_t source;      /**< for encoding: the rank that has all data shards */
} gfsmith_graph_request;

/** Create a graph. It is checked with gfsmith_graph_check before it is returned.
 *
 * A rank has one vertex in a graph. Ranks may repeat: a source or sink may hold shards, and a rank
 * may hold several shards. A transfer from a rank to itself is then omitted. If a rank would have
 * to wait for a result of its own sends, the graph is refused; this cannot happen if source and
 * sinks hold no shards and every shard has a rank of its own.
 *
 * "triec" rebuilds a missing shard at its holder, which stores the shard and sends it to the sink.
 * If the holder has gone down, give the sink as holder. The other schemes use the holder of a
 * missing shard only if `sink` is NULL.
 *
 * A graph is immutable: any number of threads and runs may share it. It does not refer to its
 * codec.
 *
 * @param out where the graph goes; on failure *out = NULL
 * @param request its description
 * @param reason GFSMITH_REASON_MAX bytes for an English description of the error, or NULL
 * @return GFSMITH_EINVAL, GFSMITH_ETOOMANY, GFSMITH_ESINGULAR, GFSMITH_EUNSUPPORTED (the scheme
 *     cannot do this, or not with these ranks), GFSMITH_ENOMEM */
GFSMITH_API int gfsmith_graph_create(gfsmith_graph **out, const gfsmith_graph_request *request,
                                     char *reason);
/** Free a graph.
 *
 * @param graph the graph, or NULL */
GFSMITH_API void gfsmith_graph_destroy(gfsmith_graph *graph);
/** Return a 64-bit hash of the whole graph (field, matrix parts, vertices and edges), for
 * gfsmith_job: the first 8 bytes, least significant first, of the 128-bit BLAKE2b hash (RFC 7693)
 * of its JSON text.
 *
 * @param graph the graph, or NULL
 * @return the hash; 0 for NULL */
GFSMITH_API uint64_t gfsmith_graph_hash(const gfsmith_graph *graph);
/** Check that the graph is acyclic, that every transfer has a sender and a receiver, and that every
 * sink computes exactly the wanted shards for all data. The check is exact: it computes with linear
 * forms in the data.
 *
 * @param graph the graph
 * @param reason GFSMITH_REASON_MAX bytes for an English description of the error, or NULL
 * @return GFSMITH_OK, GFSMITH_ENOMEM, or GFSMITH_EINVAL with the reason */
GFSMITH_API int gfsmith_graph_check(const gfsmith_graph *graph, char *reason);
/** Write the graph as JSON, which `gfsmith graph --json` prints as well.
 *
 * @param graph the graph
 * @param text where the JSON goes, terminated by a zero byte and truncated to `size`
 * @param size bytes of `text`
 * @return the length of the JSON without the zero byte, even if it was truncated */
GFSMITH_API size_t gfsmith_graph_json(const gfsmith_graph *graph, char *text, size_t size);
/** Return whether a rank has a vertex in a graph.
 *
 * @param graph the graph
 * @param rank the rank
 * @return true if it has one */
GFSMITH_API bool gfsmith_graph_has(const gfsmith_graph *graph, uint16_t rank);

/** Post the part of this node; the vertex rule of section III-D chooses primitive and calculator.
 *
 * @param node the node
 * @param graph the graph, the same at all nodes
 * @param job number of the job: the same at all nodes for one run, different for different runs
 * @param deadline_ms deadline, counted from the call; 0: the deadline of the node
 * @param length bytes of every shard; may be 0
 * @param slice as in gfsmith_memory
 * @param shards k + m addresses: of the shards that this node reads, and of those that it is to
 *     store. A shard that this node receives unchanged as an input (a surviving shard at the sink
 *     of "rs" and "lrc") is stored at its address too, unless that is NULL. Other entries are
 *     ignored
 * @param notice receivers of the outcome, or NULL
 * @return GFSMITH_EINVAL (the node has no vertex in the graph, a required address is NULL),
 *     GFSMITH_ENOMEM, GFSMITH_ELIMIT */
GFSMITH_API int gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                                   unsigned deadline_ms, size_t length, size_t slice,
                                   uint8_t *const *shards, const gfsmith_notice *notice);
/** Run the part of this node in the calling thread, as gfsmith_incoherent.
 *
 * @param node the node
 * @param graph the graph, the same at all nodes
 * @param job number of the job: the same at all nodes for one run, different for different runs
 * @param deadline_ms deadline, counted from the call; 0: the deadline of the node
 * @param length bytes of every shard; may be 0
 * @param slice as in gfsmith_memory
 * @param shards as in gfsmith_graph_post
 * @param outcome written if the result is GFSMITH_OK; may be NULL
 * @return as gfsmith_graph_post */
GFSMITH_API int gfsmith_graph_incoherent(gfsmith_node *node, const gfsmith_graph *graph,
                                         uint64_t job, unsigned deadline_ms, size_t length,
                                         size_t slice, uint8_t *const *shards,
                                         gfsmith_outcome *outcome);

/* ---- composed or incoherent ----------------------------------------------------------------- */

/** The choice between composed and incoherent by graph and length (section IV-C). A measurement
 * writes the file. Each node may choose for itself, because peers see no difference. */
typedef struct gfsmith_choices gfsmith_choices;
/** Read a file of choices. A line is `SCHEME encode|repair K M LEAST MOST`: this graph is composed
 * for shards of LEAST to MOST bytes, and otherwise incoherent (always, if LEAST is above MOST). A
 * graph has at most one line. Empty lines and lines that begin with # are ignored.
 *
 * @param out where the choices go; on failure *out = NULL
 * @param path the file
 * @param reason GFSMITH_REASON_MAX bytes for an English description of the error, or NULL
 * @return GFSMITH_EINVAL (no such file, or an invalid line, which the reason names), GFSMITH_ENOMEM
 */
GFSMITH_API int gfsmith_choices_read(gfsmith_choices **out, const char *path, char *reason);
/** Free choices.
 *
 * @param choices the choices, or NULL */
GFSMITH_API void gfsmith_choices_destroy(gfsmith_choices *choices);
/** Return the choice for a graph and a length.
 *
 * @param choices the choices; NULL: every graph is composed
 * @param graph the graph; without a line it is composed
 * @param length bytes of a shard
 * @return true: composed; false: incoherent */
GFSMITH_API bool gfsmith_choices_composed(const gfsmith_choices *choices,
                                          const gfsmith_graph *graph, size_t length);
/** Run the part of this node in the way that the choices give for the graph and the length, and
 * wait until it has ended; meanwhile the thread is not cancelled. Must not be called from a
 * callback.
 *
 * @param node the node
 * @param graph the graph, the same at all nodes
 * @param choices the choices; NULL: composed
 * @param job number of the job: the same at all nodes for one run, different for different runs
 * @param deadline_ms deadline, counted from the call; 0: the deadline of the node
 * @param length bytes of every shard; may be 0
 * @param slice as in gfsmith_memory
 * @param shards as in gfsmith_graph_post
 * @param outcome written if the result is GFSMITH_OK
 * @return as gfsmith_graph_post */
GFSMITH_API int gfsmith_graph_run(gfsmith_node *node, const gfsmith_graph *graph,
                                  const gfsmith_choices *choices, uint64_t job,
                                  unsigned deadline_ms, size_t length, size_t slice,
                                  uint8_t *const *shards, gfsmith_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_COMPOSE_H */
