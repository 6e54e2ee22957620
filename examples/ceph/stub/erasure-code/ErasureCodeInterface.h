/* A STUB, not Ceph's header: the interface of erasure codes in Ceph 16 (Pacific), written from its
 * documentation and from the order of the virtual functions in Debian's libec_isa.so. Debian ships
 * no such header; in Ceph's tree its own src/erasure-code/ErasureCodeInterface.h is used. Only
 * bufferlist is Ceph's, from Debian's <rados/buffer.h>. README.md describes the functions. */
#ifndef CEPH_ERASURE_CODE_INTERFACE_H
#define CEPH_ERASURE_CODE_INTERFACE_H

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
  virtual const std::vector<int> &get_chunk_mapping() const = 0;
  virtual int decode_concat(const std::map<int, bufferlist> &chunks, bufferlist *decoded) = 0;
};

typedef std::shared_ptr<ErasureCodeInterface> ErasureCodeInterfaceRef;

} // namespace ceph

#endif
