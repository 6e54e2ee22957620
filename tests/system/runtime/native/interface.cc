// interface: the public headers are usable from C++ (compiled, and linked with the static library).
#include <cstdint>

#include <gfsmith.h>
#include <gfsmith_algebra.h>
#include <gfsmith_checksum.h>
#include <gfsmith_wide.h>
#include <gfsmith_plan.h>
#include <gfsmith_parallel.h>
#include <gfsmith_raid.h>

int main() {
  gfsmith_codec *codec = nullptr;
  std::uint8_t bytes[3] = {5, 6, 0};
  const std::uint8_t *data[2] = {bytes, bytes + 1};
  std::uint8_t *parity[1] = {bytes + 2};
  if (gfsmith_codec_create(&codec, "vandermonde", 2, 1) != GFSMITH_OK)
    return 1;
  if (gfsmith_encode(codec, 1, data, parity) != GFSMITH_OK)
    return 1;
  std::uint8_t *const shards[3] = {bytes, bytes + 1, bytes + 2};
  if (gfsmith_xor_gen(2, 1, shards) != GFSMITH_OK)
    return 1;
  const bool present[3] = {false, true, true};
  gfsmith_plan *plan = nullptr;
  if (gfsmith_plan_create(&plan, codec, present, nullptr) != GFSMITH_OK)
    return 1;
  gfsmith_plan_destroy(plan);
  gfsmith_codec_destroy(codec);
  if (bytes[2] != (5 ^ 6))
    return 1;
  if (gfsmith_invert(0x11b, 1, bytes, bytes + 1) != GFSMITH_OK ||
      gfsmith_multiply(0x11b, 1, bytes, bytes + 1, bytes + 2) != GFSMITH_OK)
    return 1;
  return bytes[2] == 1 ? 0 : 1;
}
