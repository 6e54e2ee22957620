/** @file
 * Coding and communication chained: primitives that wait for shards, compute and send, posted once
 * and completed once; docs/compose.md shows their use. A library of its own, `gfsmith-compose`, on
 * top of `gfsmith` and libfabric.
 *
 * They are those of INEC (In-Network Erasure Coding, SC 2020, section III): ec/xor-send,
 * recv-ec/xor-send and recv-ec/xor are enough to build Reed-Solomon and local codes, partial
 * parallel repair (PPR), repair pipelining (ECPipe) and tripartite graphs (TriEC), encoding and
 * decoding. A graph says which node does which part of a linear map over GF(2^8);
 * `gfsmith_graph_post` makes each node's primitive of it.
 *
 * A *node* is one process's end of the network. It has a rank, an engine (a thread of its own) and
 * a link to every peer that it knows. Nothing that is posted blocks; what becomes of it is told
 * once, by a callback in the engine's thread, by gfsmith_operation_wait, or both. Every operation
 * has a deadline.
 *
 * Links are authenticated with a key that all nodes share; what is sent is neither encrypted nor,
 * beyond a checksum against accidents, protected against somebody who can change packets on their
 * way.
 */
#ifndef GFSMITH_COMPOSE_H
#define GFSMITH_COMPOSE_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GFSMITH_RANKS_MAX 1024   /**< ranks are 0 to 1023 */
#define GFSMITH_EDGES_MAX 4096   /**< transfers of one job are numbered 0 to 4095 */
#define GFSMITH_SLICES_MAX 65536 /**< slices of one transfer, at most */
#define GFSMITH_MESSAGE_MAX 4096 /**< bytes of a message, at most */
#define GFSMITH_KEY_MIN 16       /**< bytes of a key, at least */
#define GFSMITH_KEY_MAX 64       /**< bytes of a key, at most */
#define GFSMITH_REASON_MAX 256   /**< bytes of a reason in words, its zero byte included */

/** What can go wrong beside gfsmith_status, whose values the functions below return as well (as
 * int). */
typedef enum gfsmith_compose_status {
  GFSMITH_ETIMEDOUT = -32, /**< the deadline is over */
  GFSMITH_EPEER = -33,     /**< a peer is gone, or cannot be reached */
  GFSMITH_EAUTH = -34,     /**< a peer does not know the key, or is not who it says */
  GFSMITH_ECORRUPT = -35,  /**< a message is truncated or its checksum is wrong */
  GFSMITH_EMISMATCH =
      -36, /**< a peer means another code, graph, length or slice: the hashes differ */
  GFSMITH_ECANCELED = -37, /**< canceled, here or at a peer, or the node is being destroyed */
  GFSMITH_EFABRIC = -38,   /**< libfabric's provider failed */
  GFSMITH_ELIMIT = -39     /**< more memory than the node may use for others' shards */
} gfsmith_compose_status;

/** Words for a status of either kind. */
GFSMITH_API const char *gfsmith_compose_strerror(int status);

/* ---- nodes ---------------------------------------------------------------------------------- */

/** One process's end of the network. */
typedef struct gfsmith_node gfsmith_node;

/** Called in the engine's thread when a link to a peer comes up or goes down. It must not block. */
typedef void gfsmith_link_handler(void *context, uint16_t rank, bool up);
/** Called in the engine's thread with a message from a peer; `bytes` is gone when it returns. It
 * must not block. */
typedef void gfsmith_message_handler(void *context, uint16_t rank, const void *bytes,
                                     size_t length);

/** Settings of a node. gfsmith_node_defaults writes the values in brackets. */
typedef struct gfsmith_node_options {
  size_t size;          /**< bytes of this struct, as gfsmith_node_defaults wrote it */
  const char *provider; /**< libfabric's provider with message endpoints: "tcp", "sockets", "verbs"
                           ["tcp"] */
  const char *host;     /**< the address to listen on, in numbers ["127.0.0.1"] */
  uint16_t port;        /**< and its port; 0: any that is free [0] */
  uint16_t rank;        /**< this node's rank [0] */
  const uint8_t *key;   /**< the shared key, GFSMITH_KEY_MIN to GFSMITH_KEY_MAX bytes; it is copied
                           [none: needed] */
  size_t key_bytes;     /**< its bytes */
  unsigned deadline_ms; /**< of operations that have none of their own, 1 to 86,400,000 [30000] */
  unsigned connect_ms;  /**< of a connection's set-up and authentication, 1 to 86,400,000 [2000] */
  size_t memory;        /**< bytes that the node holds for shards on their way, at most [1 GiB] */
  bool triggers;        /**< use triggered operations where the provider has them [true] */
  gfsmith_link_handler *link;       /**< told of links [NULL] */
  gfsmith_message_handler *message; /**< given the peers' messages [NULL: they are dropped] */
  void *context;                    /**< of both [NULL] */
} gfsmith_node_options;

GFSMITH_API void gfsmith_node_defaults(gfsmith_node_options *options);

/** Create a node and listen.
 * @param out the node; it is written before a handler is called for the first time
 * @param reason GFSMITH_REASON_MAX bytes for what is wrong in words, or NULL
 * @return GFSMITH_EINVAL (an option out of its range; reason names it), GFSMITH_EUNSUPPORTED (no
 * such provider), GFSMITH_EFABRIC (the address cannot be had), GFSMITH_ENOMEM; *out = NULL then */
GFSMITH_API int gfsmith_node_create(gfsmith_node **out, const gfsmith_node_options *options,
                                    char *reason);

/** Cancel what is posted, close all links, end the engine. NULL is allowed. Not from a callback. */
GFSMITH_API void gfsmith_node_destroy(gfsmith_node *node);

GFSMITH_API uint16_t gfsmith_node_rank(const gfsmith_node *node);
GFSMITH_API uint16_t gfsmith_node_port(const gfsmith_node *node);
/** Does the provider trigger operations by itself? */
GFSMITH_API bool gfsmith_node_triggers(const gfsmith_node *node);

/** Say where a peer listens, or that it has moved. Of two nodes the one with the higher rank
 * connects, and goes on trying (from 10 ms, doubled up to 1 s) as long as it knows the peer; the
 * other needs no address to accept it.
 * @return GFSMITH_EINVAL (own rank, rank out of range, an address that does not parse) */
GFSMITH_API int gfsmith_node_peer(gfsmith_node *node, uint16_t rank, const char *host,
                                  uint16_t port);
/** Is there an authenticated link to this peer now? */
GFSMITH_API bool gfsmith_node_connected(const gfsmith_node *node, uint16_t rank);

/** Send a small message to a peer; messages of one link arrive in order, once, or the link goes
 * down. From any thread, callbacks too.
 * @return GFSMITH_EPEER (no link now), GFSMITH_EINVAL (length 0 or over GFSMITH_MESSAGE_MAX),
 * GFSMITH_ELIMIT (more than 16 MiB wait for this peer), GFSMITH_ENOMEM */
GFSMITH_API int gfsmith_node_send(gfsmith_node *node, uint16_t rank, const void *bytes,
                                  size_t length);

/* ---- primitives ----------------------------------------------------------------------------- */

/** What is computed. Its inputs are the local shards, then the received ones, in the order of their
 * descriptors. */
typedef enum gfsmith_calculator {
  GFSMITH_FORWARD = 0, /**< nothing: output i is input i */
  GFSMITH_XOR = 1,     /**< one output, the sum of all inputs */
  GFSMITH_EC = 2       /**< output[i] = sum over j of matrix[i][j] * input[j] */
} gfsmith_calculator;

typedef struct gfsmith_calc {
  gfsmith_calculator calculator;
  unsigned polynomial;   /**< of the field, irreducible of degree 8: 0x11d */
  unsigned outputs;      /**< rows, with EC; 1 with XOR; as many as inputs with FORWARD. 1 to 255 */
  const uint8_t *matrix; /**< outputs x inputs elements, row-major, with EC; it is copied */
} gfsmith_calc;

/** Memory that is registered with the provider: what is sent from there need not be registered for
 * each operation. What a peer writes to always is, so that it can write there for one transfer. */
typedef struct gfsmith_region gfsmith_region;
/** @return GFSMITH_EINVAL (a NULL argument, no bytes), GFSMITH_ENOMEM, GFSMITH_EFABRIC; *out = NULL
 * then */
GFSMITH_API int gfsmith_region_create(gfsmith_region **out, gfsmith_node *node, void *memory,
                                      size_t bytes);
/** After all operations that use it. */
GFSMITH_API void gfsmith_region_destroy(gfsmith_region *region);

/** Where shards are. All have `length` bytes and must stay where they are until the operation is
 * over. An output must not overlap an input or another output, unless it is an input (FORWARD, or a
 * row of EC with a single 1), which may be kept where it is. Every output has to be kept or sent.
 * If the operation fails, contents of what was to be received or kept are not defined. */
typedef struct gfsmith_memory {
  size_t length;   /**< bytes of every shard, 0 allowed */
  size_t slice;    /**< bytes that are waited for, computed and sent together; 0: whole shards */
  unsigned locals; /**< inputs that are here already */
  const uint8_t *const *local; /**< their addresses */
  uint8_t *const *received;    /**< where each received input goes; NULL, or an entry NULL: into the
                                  node's memory */
  uint8_t *const *output;      /**< where each output is kept; NULL, or an entry NULL: not kept */
} gfsmith_memory;

/** A receive to wait for (the paper's wait descriptor has a list of them). */
typedef struct gfsmith_source {
  uint16_t rank; /**< from this peer */
  uint16_t edge; /**< as this transfer of the job */
} gfsmith_source;
typedef struct gfsmith_wait {
  unsigned count;
  const gfsmith_source *source;
} gfsmith_wait;

/** A send (the paper's stripe descriptor has a list of them). */
typedef struct gfsmith_target {
  uint16_t rank;   /**< to this peer */
  uint16_t edge;   /**< as this transfer of the job */
  unsigned output; /**< this output */
} gfsmith_target;
typedef struct gfsmith_stripe {
  unsigned count;
  const gfsmith_target *target;
} gfsmith_stripe;

/** What an operation belongs to. */
typedef struct gfsmith_job {
  uint64_t id;   /**< the same at all nodes of a graph's run, and different for different runs */
  uint64_t hash; /**< of what all nodes must agree on; a peer with another one is refused */
  unsigned deadline_ms; /**< from posting; 0: the node's */
} gfsmith_job;

/** What became of an operation. */
typedef struct gfsmith_outcome {
  int status; /**< GFSMITH_OK or what went wrong */
  int rank;   /**< the rank it went wrong with, as far as known where it began; or -1: here */
  char reason[GFSMITH_REASON_MAX]; /**< in words */
} gfsmith_outcome;

typedef struct gfsmith_operation gfsmith_operation;
typedef void gfsmith_done(void *context, const gfsmith_outcome *outcome);

/** How it is told: a callback (may be NULL) in the engine's thread, which must not block, and
 * *operation (may be NULL), which is to be released, at any time, also after the node. Those who
 * wait are told after the callback has returned. */
typedef struct gfsmith_notice {
  gfsmith_done *done;
  void *context;
  gfsmith_operation **operation;
} gfsmith_notice;

/** ec/xor-send: compute on local shards, send the outputs. Complete when all are at the peers, and
 * have been checked there. From any thread, callbacks too. Everything but the shards is copied.
 *
 * At most 255 inputs, which with the computed outputs are at most GFSMITH_MAX_SHARDS,
 * GFSMITH_EDGES_MAX targets and GFSMITH_SLICES_MAX slices; a node has no transfers with itself.
 * @param notice NULL: nobody is told
 * @return GFSMITH_EINVAL (what a descriptor names is not there or out of range; nothing is posted),
 *     GFSMITH_ENOMEM, GFSMITH_ELIMIT, GFSMITH_ECANCELED (the node is being destroyed). That a
 *     transfer is posted twice is told as an outcome, GFSMITH_EINVAL */
GFSMITH_API int gfsmith_ec_send(gfsmith_node *node, const gfsmith_job *job,
                                const gfsmith_calc *calc, const gfsmith_memory *memory,
                                const gfsmith_stripe *stripe, const gfsmith_notice *notice);
/** recv-ec/xor-send: wait for shards, compute on local and received ones, send the outputs. */
GFSMITH_API int gfsmith_recv_ec_send(gfsmith_node *node, const gfsmith_job *job,
                                     const gfsmith_wait *wait, const gfsmith_calc *calc,
                                     const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                                     const gfsmith_notice *notice);
/** recv-ec/xor: wait for shards, compute on local and received ones, keep the outputs.
 * @param wait NULL, or with count 0: all inputs are local */
GFSMITH_API int gfsmith_recv_ec(gfsmith_node *node, const gfsmith_job *job,
                                const gfsmith_wait *wait, const gfsmith_calc *calc,
                                const gfsmith_memory *memory, const gfsmith_notice *notice);

/** The incoherent baseline of the paper's evaluation: the same three, but this thread asks for each
 * receive by itself, waits for what arrives, computes, hands over the sends and waits for them,
 * slice by slice; it returns when all is over. Peers cannot tell the difference. Not from a
 * callback.
 * @param wait,stripe NULL: none
 * @param outcome what became of it, if this returns GFSMITH_OK; or NULL
 * @return as gfsmith_ec_send */
GFSMITH_API int gfsmith_incoherent(gfsmith_node *node, const gfsmith_job *job,
                                   const gfsmith_wait *wait, const gfsmith_calc *calc,
                                   const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                                   gfsmith_outcome *outcome);

/** Wait until it is over, `ms` at most. It ends by itself, one second after its deadline at the
 * latest (docs/compose.md). In a callback this does not wait.
 * @param outcome written if it is over; or NULL
 * @return false: not over yet */
GFSMITH_API bool gfsmith_operation_wait(gfsmith_operation *operation, unsigned ms,
                                        gfsmith_outcome *outcome);
/** End it now with GFSMITH_ECANCELED, if it is not over. It may still be running when this returns.
 */
GFSMITH_API void gfsmith_operation_cancel(gfsmith_operation *operation);
/** Let go of the handle; the operation goes on. NULL is allowed. */
GFSMITH_API void gfsmith_operation_release(gfsmith_operation *operation);

/* ---- graphs --------------------------------------------------------------------------------- */

/** A dynamic erasure-coding graph (section III-D): vertices are nodes with their part of the
 * matrix, edges transfers. */
typedef struct gfsmith_graph gfsmith_graph;

/** What a graph is to do. Shards are numbered as everywhere: data 0 to k - 1, then parity. */
typedef struct gfsmith_graph_request {
  const char *scheme;         /**< "rs", "lrc", "triec"; "ppr" and "ecpipe", which repair only */
  const gfsmith_codec *codec; /**< the code, in ordinary layout */
  unsigned k;                 /**< its data shards */
  unsigned m;             /**< and parities; a codec does not tell, so they are said, and checked */
  unsigned polynomial;    /**< of its field, or 0: GFSMITH_POLYNOMIAL; checked likewise */
  const uint16_t *holder; /**< k + m ranks: who has, or is to have, each shard */
  const bool *present;    /**< k + m flags: which shards are there; NULL: encode */
  const bool *wanted;     /**< k + m flags: which to rebuild; NULL: every missing one */
  const uint16_t *sink;   /**< k + m ranks: who gets each rebuilt shard; NULL: its holder */
  uint16_t source;        /**< encode: the rank that has all data shards */
} gfsmith_graph_request;

/** Lay out a graph. It is validated before it is returned (gfsmith_graph_check).
 *
 * A rank has one part in a graph. Ranks may be the same (a source or sink that holds shards,
 * several shards of one rank): what it would send to itself falls away. Where it would then have to
 * wait for what comes of its own sending, the graph is refused; with a source and sinks that hold
 * no shards, and a rank for each shard, that cannot be.
 *
 * "triec" repairs at the holder of a missing shard, which keeps it, and from there sends it to the
 * sink; to read past a holder that is gone, name the sink as its holder. Other schemes look at a
 * missing shard's holder only if `sink` is NULL.
 *
 * A graph never changes: any number of threads and runs may share it. It needs its codec no longer.
 * @param reason GFSMITH_REASON_MAX bytes, or NULL
 * @return GFSMITH_EINVAL, GFSMITH_ETOOMANY, GFSMITH_ESINGULAR, GFSMITH_EUNSUPPORTED (the scheme
 * does not do this, or not with these ranks), GFSMITH_ENOMEM; *out = NULL then */
GFSMITH_API int gfsmith_graph_create(gfsmith_graph **out, const gfsmith_graph_request *request,
                                     char *reason);
GFSMITH_API void gfsmith_graph_destroy(gfsmith_graph *graph);
/** A 64-bit hash of everything in it: field, matrix parts, vertices and edges. For gfsmith_job. It
 * is the first 8 bytes, the lowest first, of BLAKE2b with 128 bits (RFC 7693) of the JSON. NULL: 0.
 */
GFSMITH_API uint64_t gfsmith_graph_hash(const gfsmith_graph *graph);
/** Is it acyclic, is every transfer sent and received, and does every sink compute exactly the
 * wanted shards, for all data? Decided over linear forms in the shards. @return GFSMITH_OK,
 * GFSMITH_ENOMEM, or GFSMITH_EINVAL with the reason */
GFSMITH_API int gfsmith_graph_check(const gfsmith_graph *graph, char *reason);
/** As JSON, the form of `gfsmith graph --json`, with a zero byte as far as there is room.
 * @return its length without the zero byte, whatever `size` is */
GFSMITH_API size_t gfsmith_graph_json(const gfsmith_graph *graph, char *text, size_t size);
/** Does this rank have a part in it? */
GFSMITH_API bool gfsmith_graph_has(const gfsmith_graph *graph, uint16_t rank);

/** Post this node's part: the vertex rule of section III-D picks primitive and calculator.
 * @param shards k + m addresses: of the shards that this node reads, and of those that it is to
 * get. A shard that it receives as it is in order to compute (a survivor, at the sink of "rs" and
 * "lrc") goes to its address too, unless that is NULL. Others are not looked at
 * @param length,slice as in gfsmith_memory
 * @return GFSMITH_EINVAL (the node has no part in the graph, an address that is needed is NULL),
 * GFSMITH_ENOMEM, GFSMITH_ELIMIT */
GFSMITH_API int gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                                   unsigned deadline_ms, size_t length, size_t slice,
                                   uint8_t *const *shards, const gfsmith_notice *notice);
/** The same the incoherent way, in this thread. */
GFSMITH_API int gfsmith_graph_incoherent(gfsmith_node *node, const gfsmith_graph *graph,
                                         uint64_t job, unsigned deadline_ms, size_t length,
                                         size_t slice, uint8_t *const *shards,
                                         gfsmith_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_COMPOSE_H */
