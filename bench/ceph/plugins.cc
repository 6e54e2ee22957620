// plugins.cc: times two erasure-code plugins of Ceph in one process: plugins libec_gfsmith.so
// libec_isa.so. Samples alternate. A row: call, shape, bytes of a chunk, microseconds of both, and
// isa's time over gfsmith's in the same round: quartiles.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>

#include <malloc.h>

#include "ceph_plugins.h"

constexpr int ROUNDS = 61;
constexpr double SAMPLE = 2e-4; // seconds

using Call = std::function<void()>;
using Clock = std::chrono::steady_clock;

static double seconds(const Call &call, int count) {
  auto start = Clock::now();
  for (int n = 0; n < count; n++)
    call();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static void measure(const char *name, int k, int m, unsigned size,
                    const std::array<Call, 2> &calls) {
  int count = 1;
  while (seconds(calls[0], count) + seconds(calls[1], count) < 2 * SAMPLE)
    count *= 2;
  std::vector<double> ratios;
  std::array<std::vector<double>, 2> times;
  for (int round = 0; round < ROUNDS; round++) {
    for (int n = 0; n < 2; n++) {
      int which = (n + round) % 2;
      times[which].push_back(seconds(calls[which], count) / count * 1e6);
    }
    ratios.push_back(times[1].back() / times[0].back());
  }
  for (auto *values : {&ratios, &times[0], &times[1]})
    std::sort(values->begin(), values->end());
  std::printf("| %s | %d+%d | %u | %.1f | %.1f | %.2f (%.2f-%.2f) |\n", name, k, m, size,
              times[1][ROUNDS / 2], times[0][ROUNDS / 2], ratios[ROUNDS / 2], ratios[ROUNDS / 4],
              ratios[3 * ROUNDS / 4]);
}

static void shape(int k, int m, unsigned size) {
  const bufferlist object = random_object(k * size);
  std::array<Call, 2> encode, decode;
  for (int which = 0; which < 2; which++) {
    std::string said;
    auto code = make(which == 0 ? "gfsmith" : "isa",
                     {{"k", std::to_string(k)}, {"m", std::to_string(m)}}, &said);
    encode[which] = [=] {
      Chunks made;
      EXPECT(code->encode(numbers(k + m), object, &made) == 0);
    };
    Chunks left;
    std::set<int> lost;
    EXPECT(code->encode(numbers(k + m), object, &left) == 0);
    for (int n = 0; n < m; n++) {
      left.erase(n);
      lost.insert(n);
    }
    decode[which] = [=] {
      Chunks made;
      EXPECT(code->decode(lost, left, &made, int(size)) == 0);
    };
  }
  measure("`encode`", k, m, size, encode);
  measure("`decode`", k, m, size, decode);
}

int main(int, char **arguments) {
  // Freed memory stays in the process, as with tcmalloc in Ceph's daemons.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  give_a_context();
  load("gfsmith", arguments[1]);
  load("isa", arguments[2]);
  for (unsigned size : {4096u, 65536u, 1048576u})
    for (auto [k, m] : {std::pair(4, 2), {10, 4}})
      shape(k, m, size);
  return 0;
}
