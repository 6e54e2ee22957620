/* A STUB, not Ceph's header: the types of chunk numbers in Ceph 20, with the functions that the
 * plugin and this program call, and the rules of Ceph's: conversions are explicit, a map has a
 * largest size. */
#ifndef CEPH_MINI_FLAT_MAP_H
#define CEPH_MINI_FLAT_MAP_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>

struct shard_id_t {
  int8_t id;
  shard_id_t() : id(0) {}
  explicit constexpr shard_id_t(int8_t number) : id(number) {}
  explicit constexpr operator int() const { return id; }
  bool operator<(const shard_id_t &other) const { return id < other.id; }
};

class shard_id_set {
public:
  void insert(const shard_id_t &n) { all.insert(n); }
  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }

private:
  std::set<shard_id_t> all;
};

template <class Key, class T> class mini_flat_map {
public:
  explicit mini_flat_map(size_t most) : most(most) {}
  bool contains(const Key &n) const { return all.count(n) > 0; }
  T &at(const Key &n) { return all.at(n); }
  const T &at(const Key &n) const { return all.at(n); }
  size_t erase(const Key &n) { return all.erase(n); }
  size_t size() const { return all.size(); }
  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }
  auto begin() { return all.begin(); }
  auto end() { return all.end(); }
  T &operator[](const Key &n) {
    if (int(n) < 0 || size_t(int(n)) >= most)
      throw std::out_of_range("beyond the largest size of the map");
    return all[n];
  }

private:
  size_t most;
  std::map<Key, T> all;
};

template <class T> using shard_id_map = mini_flat_map<shard_id_t, T>;

#endif
