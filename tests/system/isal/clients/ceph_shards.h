// ceph_shards.h: the part of ceph_host.cc for interfaces whose chunks have numbers of the type
// shard_id_t. It includes this file after its helpers. Results are those of the functions with
// numbers of the type int.
#ifndef GFSMITH_CEPH_SHARDS_H
#define GFSMITH_CEPH_SHARDS_H

using Buffers = shard_id_map<ceph::bufferptr>;
constexpr size_t MOST = 128; // chunks

static shard_id_set shards(const std::set<int> &numbers) {
  shard_id_set made;
  for (int n : numbers)
    made.insert(shard_id_t(n));
  return made;
}

static ceph::bufferptr filled(const std::string &content) {
  ceph::bufferptr made(ceph::buffer::create_aligned(content.size(), 64));
  std::memcpy(made.c_str(), content.data(), content.size());
  return made;
}

static std::string content(const ceph::bufferptr &buffer) {
  return {buffer.c_str(), buffer.length()};
}

// Copies of some chunks.
static Buffers some(const Chunks &chunks, const std::set<int> &numbers) {
  Buffers made(MOST);
  for (int n : numbers)
    made[shard_id_t(n)] = filled(bytes(chunks.at(n)));
  return made;
}

// Buffers with other bytes.
static Buffers empty(size_t size, const std::set<int> &numbers) {
  Buffers made(MOST);
  for (int n : numbers)
    made[shard_id_t(n)] = filled(std::string(size, 'x'));
  return made;
}

// Encodes with all data; with the chunks that are not zero; and some parities only.
static void encode_parts(ceph::ErasureCodeInterface &code, const std::set<int> &data,
                         const std::set<int> &parities, const Chunks &chunks) {
  size_t size = chunks.at(0).length();
  for (const auto &wanted : {parities, std::set<int>{*parities.rbegin()}}) {
    Buffers out = empty(size, wanted);
    EXPECT(code.encode_chunks(some(chunks, data), out) == 0);
    for (int n : wanted)
      EXPECT(content(out.at(shard_id_t(n))) == bytes(chunks.at(n)));
  }
  Buffers in = some(chunks, data), out = empty(size, parities), other = empty(size, parities);
  ceph::bufferptr &zeros = in[shard_id_t(*data.begin())];
  std::memset(zeros.c_str(), 0, size);
  EXPECT(code.encode_chunks(in, out) == 0);
  in.erase(shard_id_t(*data.begin()));
  EXPECT(code.encode_chunks(in, other) == 0);
  for (int n : parities)
    EXPECT(content(out.at(shard_id_t(n))) == content(other.at(shard_id_t(n))));
}

// Changes two data chunks by deltas. The parities are changed in place, or copied, or one of them
// only.
static void write_parts(ceph::ErasureCodeInterface &code, const std::set<int> &data,
                        const std::set<int> &parities, const Chunks &chunks) {
  size_t size = chunks.at(0).length();
  Buffers deltas(MOST), fresh = some(chunks, data), wanted = empty(size, parities);
  for (int n : {*data.begin(), *data.rbegin()}) {
    shard_id_t shard(n);
    const std::string old = bytes(chunks.at(n)), changed = bytes(random_object(size));
    ceph::bufferptr delta = filled(std::string(size, 'x')), in_place = filled(old);
    code.encode_delta(filled(old), filled(changed), &delta);
    code.encode_delta(in_place, filled(changed), &in_place);
    for (size_t at = 0; at < size; at++)
      EXPECT(delta.c_str()[at] == char(old[at] ^ changed[at]));
    EXPECT(content(delta) == content(in_place));
    deltas[shard] = delta;
    fresh[shard] = filled(changed);
  }
  EXPECT(code.encode_chunks(fresh, wanted) == 0);
  for (int kind = 0; kind < 3; kind++) {
    const std::set<int> changed = kind == 2 ? std::set<int>{*parities.begin()} : parities;
    Buffers in = deltas, out = kind == 1 ? empty(size, changed) : some(chunks, changed);
    for (int n : changed)
      if (kind < 2)
        in[shard_id_t(n)] = kind == 0 ? out.at(shard_id_t(n)) : filled(bytes(chunks.at(n)));
    code.apply_delta(in, out);
    for (int n : changed)
      EXPECT(content(out.at(shard_id_t(n))) == content(wanted.at(shard_id_t(n))));
  }
}

// Repairs a data chunk and a parity, with all other chunks and with as few as possible.
static void repair_parts(ceph::ErasureCodeInterface &code, const std::set<int> &all,
                         const std::set<int> &lost, const Chunks &chunks) {
  std::set<int> left = all;
  for (int n : lost)
    left.erase(n);
  shard_id_set minimum, cheapest;
  shard_id_map<std::vector<std::pair<int, int>>> sub_chunks(MOST);
  EXPECT(code.minimum_to_decode(shards(lost), shards(left), minimum, &sub_chunks) == 0);
  EXPECT(code.minimum_to_decode(shards(lost), shards(left), cheapest, nullptr) == 0);
  shard_id_map<int> costs(MOST);
  shard_id_map<bufferlist> given(MOST), decoded(MOST), encoded(MOST);
  std::set<int> few, same;
  for (shard_id_t n : minimum) {
    EXPECT(sub_chunks.at(n) == (std::vector<std::pair<int, int>>{{0, 1}}));
    few.insert(int(n));
    costs[n] = 1;
    given[n] = chunks.at(int(n));
  }
  EXPECT(few.size() == code.get_data_chunk_count());
  shard_id_set again;
  EXPECT(code.minimum_to_decode_with_cost(shards(lost), costs, &again) == 0);
  for (shard_id_t n : again)
    same.insert(int(n));
  EXPECT(same == few);
  EXPECT(code.decode(shards(lost), given, &decoded, 0) == 0);
  for (const auto &available : {left, few}) {
    Buffers in = some(chunks, available), out = empty(chunks.at(0).length(), lost);
    EXPECT(code.decode_chunks(shards(lost), in, out) == 0);
    for (int n : lost)
      EXPECT(content(out.at(shard_id_t(n))) == bytes(chunks.at(n)) &&
             bytes(decoded.at(shard_id_t(n))) == bytes(chunks.at(n)));
  }
}

// Returns whether a call throws.
template <class Call> static bool throws(Call call) {
  try {
    call();
  } catch (const std::exception &) {
    return true;
  }
  return false;
}

static void refused_parts(ceph::ErasureCodeInterface &code, const Chunks &chunks) {
  size_t size = chunks.at(0).length();
  Buffers in = some(chunks, {0, 1, 2}), shorter = empty(size - 1, {4}),
          unknown = empty(size, {100}), none(MOST);
  for (Buffers *out : {&shorter, &unknown}) {
    EXPECT(code.encode_chunks(in, *out) == -EINVAL &&
           code.decode_chunks(shards({4}), in, *out) == -EINVAL);
    EXPECT(throws([&] { code.apply_delta(in, *out); }));
  }
  EXPECT(code.encode_chunks(none, none) == -EINVAL);
  EXPECT(code.decode_chunks(shards({3}), in, none) == -EINVAL); // no buffer for the wanted chunk
  Buffers out = empty(size, {3});
  EXPECT(code.decode_chunks(shards({3}), in, out) == -EIO); // three of four
  ceph::bufferptr delta = filled("ab");
  EXPECT(throws([&] { code.encode_delta(filled("a"), filled("ab"), &delta); }));
  EXPECT(throws([&] { code.encode_delta(filled("a"), filled("a"), &delta); }));
}

static void partial_writes() {
  std::string said;
  for (const std::string technique : {"reed_sol_van", "cauchy"})
    for (const std::string mapping : {"DDDD__", "_DD_DD"}) {
      auto code =
          make("gfsmith", {{"k", "4"}, {"m", "2"}, {"technique", technique}, {"mapping", mapping}},
               &said);
      std::set<int> data, parities, all = numbers(6);
      for (int n : all)
        (mapping[n] == 'D' ? data : parities).insert(n);
      bufferlist object = random_object(10000);
      Chunks chunks;
      shard_id_map<bufferlist> encoded(MOST);
      EXPECT(code->encode(all, object, &chunks) == 0);
      EXPECT(code->encode(shards(all), object, &encoded) == 0 && encoded.size() == 6);
      for (int n : all)
        EXPECT(bytes(encoded.at(shard_id_t(n))) == bytes(chunks.at(n)));
      encode_parts(*code, data, parities, chunks);
      write_parts(*code, data, parities, chunks);
      for (int first : all)
        for (int second : all)
          repair_parts(*code, all, {first, second}, chunks);
      EXPECT(code->get_minimum_granularity() == 1);
      EXPECT(code->get_supported_optimizations() == 23); // reads, writes, zeros, deltas
      if (mapping == "DDDD__")
        refused_parts(*code, chunks);
    }
  EXPECT(make("gfsmith", {}, &said)->get_supported_optimizations() == 23 + 64);
  EXPECT(make("gfsmith", {{"k", "124"}, {"m", "4"}, {"technique", "cauchy"}}, &said) != nullptr);
  EXPECT(make("gfsmith", {{"k", "125"}, {"m", "4"}, {"technique", "cauchy"}}, &said) == nullptr);
  EXPECT(said == "k=125 m=4: at most 128 chunks");
}

#endif
