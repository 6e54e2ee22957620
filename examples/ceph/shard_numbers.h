/* shard_numbers.h: the functions that Ceph's interface has from release 20 on. Chunks have numbers
 * of the type shard_id_t, and writes of parts of chunks change the parities by deltas.
 * ErasureCodePluginGfsmith.cc includes this file if the headers have these types. README.md. */
#ifndef GFSMITH_CEPH_SHARD_NUMBERS_H
#define GFSMITH_CEPH_SHARD_NUMBERS_H

#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "erasure-code/ErasureCodeInterface.h"
#include "gfsmith.h"

// Coder: an ErasureCodeInterface without these functions, with its profile and code.
template <class Coder> class ShardNumbers final : public Coder {
  using bufferlist = ceph::bufferlist;
  using bufferptr = ceph::bufferptr;
  using Chunks = std::map<int, bufferlist>;
  using Lists = shard_id_map<bufferlist>;
  using Buffers = shard_id_map<bufferptr>;
  using Coder::chunk_of, Coder::codec, Coder::k, Coder::m;

public:
  // Functions whose chunks have numbers of the type int.
  using Coder::decode, Coder::decode_chunks, Coder::encode, Coder::encode_chunks;
  using Coder::minimum_to_decode, Coder::minimum_to_decode_with_cost;

  size_t get_minimum_granularity() override { return 1; }

  // Those of Ceph's plugin "isa". The releases allow no optimizations for its technique "cauchy",
  // nor do we for chunks at other positions.
  uint64_t get_supported_optimizations() const override {
    uint64_t flags = Coder::FLAG_EC_PLUGIN_PARTIAL_READ_OPTIMIZATION |
                     Coder::FLAG_EC_PLUGIN_PARTIAL_WRITE_OPTIMIZATION |
                     Coder::FLAG_EC_PLUGIN_ZERO_INPUT_ZERO_OUTPUT_OPTIMIZATION |
                     Coder::FLAG_EC_PLUGIN_PARITY_DELTA_OPTIMIZATION;
    bool plain = this->mapping.empty() && this->profile.at("technique") == "reed_sol_van";
    return plain ? flags | Coder::FLAG_EC_PLUGIN_OPTIMIZED_SUPPORTED : flags;
  }

  int minimum_to_decode(const shard_id_set &want, const shard_id_set &available,
                        shard_id_set &minimum,
                        shard_id_map<std::vector<std::pair<int, int>>> *sub_chunks) override {
    std::set<int> chosen;
    int status = this->choose(numbers(want), numbers(available), &chosen);
    for (int n : chosen) {
      minimum.insert(shard_id_t(n));
      if (sub_chunks != nullptr)
        (*sub_chunks)[shard_id_t(n)] = {{0, 1}}; // the whole of its only sub-chunk
    }
    return status;
  }

  int minimum_to_decode_with_cost(const shard_id_set &want, const shard_id_map<int> &available,
                                  shard_id_set *minimum) override {
    std::set<int> known, chosen;
    for (auto &&[n, cost] : available)
      known.insert(int(n));
    int status = this->choose(numbers(want), known, &chosen);
    for (int n : chosen)
      minimum->insert(shard_id_t(n));
    return status;
  }

  int encode(const shard_id_set &want, const bufferlist &in, Lists *encoded) override {
    Chunks made;
    int status = Coder::encode(numbers(want), in, &made);
    give(made, encoded);
    return status;
  }

  int decode(const shard_id_set &want, const Lists &chunks, Lists *decoded, int size) override {
    Chunks given, made;
    for (auto &&[n, list] : chunks)
      given[int(n)] = list;
    int status = Coder::decode(numbers(want), given, &made, size);
    give(made, decoded);
    return status;
  }

  // Data chunks that are absent are zero, parities that are absent are not wanted.
  int encode_chunks(const Buffers &in, Buffers &out) override {
    int64_t size = common_size(in, out);
    if (size < 0)
      return -EINVAL;
    Room room(size);
    std::vector<uint8_t *> shards(k + m);
    for (unsigned i = 0; i < k + m; i++)
      shards[i] = bytes(i < k ? in : out, i, room);
    return Coder::code(gfsmith_encode(codec.get(), size, shards.data(), shards.data() + k));
  }

  int decode_chunks(const shard_id_set &want, Buffers &in, Buffers &out) override {
    int64_t size = common_size(in, out);
    if (size < 0)
      return -EINVAL;
    for (int n : numbers(want))
      if (!in.contains(shard_id_t(n)) && !out.contains(shard_id_t(n)))
        return -EINVAL;
    Room room(0);
    std::vector<uint8_t *> shards(k + m);
    std::unique_ptr<bool[]> present(new bool[k + m]), wanted(new bool[k + m]);
    for (unsigned i = 0; i < k + m; i++) {
      present[i] = in.contains(shard_id_t(chunk_of(i)));
      wanted[i] = out.contains(shard_id_t(chunk_of(i)));
      shards[i] = present[i] || wanted[i] ? bytes(present[i] ? in : out, i, room) : nullptr;
    }
    return Coder::code(
        gfsmith_reconstruct(codec.get(), size, shards.data(), present.get(), wanted.get()));
  }

  // *delta = before + after, which may be the buffer of `before`: an update of the code with one
  // parity, a copy.
  void encode_delta(const bufferptr &before, const bufferptr &after, bufferptr *delta) override {
    if (before.length() != after.length() || delta->length() != after.length())
      throw std::invalid_argument("encode_delta: buffers of different lengths");
    if (delta->c_str() != before.c_str())
      std::memcpy(delta->c_str(), before.c_str(), before.length());
    uint8_t *sum = writable(*delta);
    check(gfsmith_update(this->copy.get(), after.length(), 0, writable(after), &sum));
  }

  // Adds the deltas of data chunks to parities. A parity in `in` is copied to `out` before, unless
  // it is the same buffer.
  void apply_delta(const Buffers &in, Buffers &out) override {
    int64_t size = common_size(in, out);
    if (size < 0)
      throw std::invalid_argument(
          "apply_delta: buffers of different lengths, or of unknown chunks");
    Room room(size);
    std::vector<uint8_t *> parities(m);
    for (unsigned i = 0; i < m; i++) {
      parities[i] = bytes(out, k + i, room);
      const uint8_t *old =
          in.contains(shard_id_t(chunk_of(k + i))) ? bytes(in, k + i, room) : parities[i];
      if (old != parities[i])
        std::memcpy(parities[i], old, size);
    }
    for (unsigned j = 0; j < k; j++)
      if (in.contains(shard_id_t(chunk_of(j))))
        check(gfsmith_update(codec.get(), size, j, bytes(in, j, room), parities.data()));
  }

private:
  // Buffers of zeros for the chunks that a call omits.
  struct Room {
    explicit Room(size_t size) : size(size) {}
    uint8_t *next() {
      made.emplace_back(size);
      return made.back().data();
    }
    size_t size;
    std::list<std::vector<uint8_t>> made;
  };

  static std::set<int> numbers(const shard_id_set &shards) {
    std::set<int> made;
    for (shard_id_t n : shards)
      made.insert(int(n));
    return made;
  }

  static void give(Chunks &made, Lists *result) {
    for (auto &[n, list] : made)
      (*result)[shard_id_t(n)] = std::move(list);
  }

  static uint8_t *writable(const bufferptr &buffer) {
    return reinterpret_cast<uint8_t *>(const_cast<char *>(buffer.c_str()));
  }

  // Returns the bytes of a shard's chunk, of a buffer of zeros if it is absent.
  uint8_t *bytes(const Buffers &buffers, unsigned shard, Room &room) const {
    shard_id_t n(chunk_of(shard));
    return buffers.contains(n) ? writable(buffers.at(n)) : room.next();
  }

  // Returns the size of all buffers, -1 if they differ, if there is none, or if a chunk is not of
  // this code.
  int64_t common_size(const Buffers &in, const Buffers &out) const {
    int64_t size = -1;
    for (const Buffers *buffers : {&in, &out})
      for (auto &&[n, buffer] : *buffers) {
        if (size < 0)
          size = buffer.length();
        if (buffer.length() != size || int(n) < 0 || unsigned(int(n)) >= k + m)
          return -1;
      }
    return size;
  }

  // Neither function for deltas has a result: an exception ends the daemon, as its assertions do.
  static void check(gfsmith_status status) {
    if (status != GFSMITH_OK)
      throw std::runtime_error(gfsmith_strerror(status));
  }
};

#endif
