/* A STUB, not Ceph's header: the interface of erasure codes in Ceph 20, written from its
 * documentation. Only bufferlist is Ceph's, from Debian's <rados/buffer.h>. */
#ifndef CEPH_ERASURE_CODE_INTERFACE_H
#define CEPH_ERASURE_CODE_INTERFACE_H

#include "common/mini_flat_map.h"

#include <rados/buffer.h>

#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

class CrushWrapper;

namespace ceph {

typedef std::map<std::string, std::string> ErasureCodeProfile;

class ErasureCodeInterface {
public:
  virtual ~ErasureCodeInterface() {}
  virtual int init(ErasureCodeProfile &profile, std::ostream *ss) = 0;
  virtual const ErasureCodeProfile &get_profile() const = 0;
  virtual int create_rule(const std::string &name, CrushWrapper &crush, std::ostream *ss) const = 0;
  virtual unsigned int get_chunk_count() const = 0;
  virtual unsigned int get_data_chunk_count() const = 0;
  virtual unsigned int get_coding_chunk_count() const = 0;
  virtual int get_sub_chunk_count() = 0;
  virtual unsigned int get_chunk_size(unsigned int object_size) const = 0;
  virtual int minimum_to_decode(const std::set<int> &want_to_read, const std::set<int> &available,
                                std::map<int, std::vector<std::pair<int, int>>> *minimum) = 0;
  virtual int minimum_to_decode_with_cost(const std::set<int> &want_to_read,
                                          const std::map<int, int> &available,
                                          std::set<int> *minimum) = 0;
  virtual int encode(const std::set<int> &want_to_encode, const bufferlist &in,
                     std::map<int, bufferlist> *encoded) = 0;
  virtual int encode_chunks(const std::set<int> &want_to_encode,
                            std::map<int, bufferlist> *encoded) = 0;
  virtual int decode(const std::set<int> &want_to_read, const std::map<int, bufferlist> &chunks,
                     std::map<int, bufferlist> *decoded, int chunk_size) = 0;
  virtual int decode_chunks(const std::set<int> &want_to_read,
                            const std::map<int, bufferlist> &chunks,
                            std::map<int, bufferlist> *decoded) = 0;
  virtual const std::vector<shard_id_t> &get_chunk_mapping() const = 0;
  virtual int decode_concat(const std::set<int> &want_to_read,
                            const std::map<int, bufferlist> &chunks, bufferlist *decoded) = 0;
  virtual int decode_concat(const std::map<int, bufferlist> &chunks, bufferlist *decoded) = 0;

  virtual int
  minimum_to_decode(const shard_id_set &want_to_read, const shard_id_set &available,
                    shard_id_set &minimum_set,
                    mini_flat_map<shard_id_t, std::vector<std::pair<int, int>>> *sub_chunks) = 0;
  virtual int minimum_to_decode_with_cost(const shard_id_set &want_to_read,
                                          const shard_id_map<int> &available,
                                          shard_id_set *minimum) = 0;
  virtual size_t get_minimum_granularity() = 0;
  virtual int encode(const shard_id_set &want_to_encode, const bufferlist &in,
                     shard_id_map<bufferlist> *encoded) = 0;
  virtual int encode_chunks(const shard_id_map<bufferptr> &in, shard_id_map<bufferptr> &out) = 0;
  virtual void encode_delta(const bufferptr &old_data, const bufferptr &new_data,
                            bufferptr *delta_maybe_in_place) = 0;
  virtual void apply_delta(const shard_id_map<bufferptr> &in, shard_id_map<bufferptr> &out) = 0;
  virtual int decode(const shard_id_set &want_to_read, const shard_id_map<bufferlist> &chunks,
                     shard_id_map<bufferlist> *decoded, int chunk_size) = 0;
  virtual int decode_chunks(const shard_id_set &want_to_read, shard_id_map<bufferptr> &in,
                            shard_id_map<bufferptr> &out) = 0;
  virtual uint64_t get_supported_optimizations() const = 0;
  enum {
    FLAG_EC_PLUGIN_PARTIAL_READ_OPTIMIZATION = 1,
    FLAG_EC_PLUGIN_PARTIAL_WRITE_OPTIMIZATION = 2,
    FLAG_EC_PLUGIN_ZERO_INPUT_ZERO_OUTPUT_OPTIMIZATION = 4,
    FLAG_EC_PLUGIN_PARITY_DELTA_OPTIMIZATION = 16,
    FLAG_EC_PLUGIN_OPTIMIZED_SUPPORTED = 64,
  };
};

typedef std::shared_ptr<ErasureCodeInterface> ErasureCodeInterfaceRef;

} // namespace ceph

#endif
