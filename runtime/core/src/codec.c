#include "codec.h"

#include <stdlib.h>
#include <string.h>

#include "codes.h"
#include "ending.h"
#include "syndrome.h"

const char *gfsmith_version(void) { return GFSMITH_VERSION; }

const char *gfsmith_strerror(gfsmith_status status) {
  switch (status) {
  case GFSMITH_OK:
    return "success";
  case GFSMITH_EINVAL:
    return "invalid argument";
  case GFSMITH_ENOMEM:
    return "out of memory";
  case GFSMITH_ENOTMDS:
    return "the code cannot repair every loss at this shape";
  case GFSMITH_ETOOMANY:
    return "more shards are missing than there are parities";
  case GFSMITH_EUNSUPPORTED:
    return "not supported by this CPU or this build";
  case GFSMITH_ESINGULAR:
    return "this loss cannot be repaired with this matrix";
  }
  return "unknown status";
}

static bool shape_valid(unsigned k, unsigned m) {
  return k >= 1 && m >= 1 && k < GFSMITH_MAX_SHARDS && m <= GFSMITH_MAX_SHARDS - k;
}

/* Allocate a codec of a valid shape and polynomial; the caller writes the matrix. */
static gfsmith_codec *allocate(unsigned polynomial, unsigned k, unsigned m) {
  gfsmith_codec *codec = malloc(sizeof *codec + (size_t)k * m);
  if (codec == NULL)
    return NULL;
  gfs_field_init(&codec->field, polynomial);
  codec->isa = gfs_dispatch_isa();
  codec->encoder = NULL;
  codec->adders = NULL;
  codec->packets = NULL;
  codec->repairs = NULL;
  codec->adaptive = NULL;
  codec->hint = GFSMITH_HINT_AUTO;
  codec->short_encode = 0;
  codec->short_update = (gfs_short_update){0};
  codec->mds = codec->locates = false;
  codec->k = k;
  codec->m = m;
  return codec;
}

/* The most bytes of a shard of a call that runs the kernel of GFS_PATH_cached on every CPU. alike:
 * it is also the kernel of GFS_PATH_second. */
static size_t cached_length(gfsmith_hint hint, unsigned shards, bool alike) {
  if (hint == GFSMITH_HINT_STREAMING)
    return 0;
  if (!alike)
    return GFS_FIRST_CACHE_LEAST / shards;
  return hint == GFSMITH_HINT_CACHED ? SIZE_MAX : GFS_OWN_CACHE_LEAST / shards;
}

static bool are_alike(gfsmith_kernel *const *kernels) {
  return kernels[GFS_PATH_cached] == kernels[GFS_PATH_second];
}

bool gfs_any_missing(const uint8_t *const *pointers, size_t count) {
  if (count > 0 && gfs_common_bits(pointers, count) != 0)
    return false;
  for (size_t n = 0; n < count; n++)
    if (pointers[n] == NULL)
      return true;
  return false;
}

static void find_short_update(gfsmith_codec *codec) {
  const gfs_map *encoder = codec->encoder;
  const gfs_adders *adders = codec->adders;
  codec->short_update = (gfs_short_update){0};
  if (codec->packets != NULL || encoder->mads != 1 || adders->most == 0 || !adders->sets)
    return;
  const gfs_adder *adder = &adders->pass[0];
  bool alike = are_alike(adder->set) && are_alike(adder->add[0]);
  codec->short_update = (gfs_short_update){
      .most = cached_length(codec->hint, 1 + codec->m, alike),
      .tables = encoder->pass[encoder->dots].tables,
      .column = codec->m * encoder->entry,
      .set = adder->set[GFS_PATH_cached],
      .add = adder->add[0][GFS_PATH_cached],
  };
}

void gfs_codec_find_short(gfsmith_codec *codec) {
  bool encode = codec->packets == NULL && codec->encoder->dots == 1;
  encode = encode && gfs_may_end_calls(codec->isa);
  codec->short_encode = 0;
  if (encode) {
    bool alike = are_alike(codec->encoder->pass->kernel);
    codec->short_encode = cached_length(codec->hint, codec->k + codec->m, alike);
  }
  find_short_update(codec);
}

/* Prepare kernels and tables of a codec whose matrix has been written, or destroy it. */
static gfsmith_status finish(gfsmith_codec **out, gfsmith_codec *codec) {
  gfsmith_status status = GFSMITH_EUNSUPPORTED;
  if (codec->isa != NULL)
    status = gfs_map_create(&codec->encoder, codec->isa, &codec->field, codec->k, codec->m,
                            codec->matrix);
  if (status == GFSMITH_OK)
    status = gfs_adders_create(&codec->adders, codec->isa, codec->encoder);
  if (status == GFSMITH_OK) {
    gfs_equations equations = {&codec->field, codec->matrix, codec->k, codec->m};
    codec->locates = codec->mds ? codec->m >= 2 : gfs_columns_differ(&equations);
    codec->repairs = gfs_repairs_create();
    status = codec->repairs != NULL ? GFSMITH_OK : GFSMITH_ENOMEM;
  }
#if defined(GFSMITH_WITH_ADAPTIVE)
  if (status == GFSMITH_OK)
    status = gfs_adaptive_environment(codec);
#endif
  if (status != GFSMITH_OK) {
    gfsmith_codec_destroy(codec);
    return status;
  }
  gfs_codec_find_short(codec);
  *out = codec;
  return GFSMITH_OK;
}

gfsmith_status gfsmith_codec_create(gfsmith_codec **out, const char *code, unsigned k, unsigned m) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  const gfs_code *family = code != NULL ? gfs_code_find(code) : NULL;
  if (family == NULL || !shape_valid(k, m) || !gfs_code_has(family, k, m))
    return GFSMITH_EINVAL;
  if (family->is_mds != NULL && !family->is_mds(k, m))
    return GFSMITH_ENOTMDS;
  gfsmith_codec *codec = allocate(GFSMITH_POLYNOMIAL, k, m);
  if (codec == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned i = 0; i < m; i++)
    for (unsigned j = 0; j < k; j++)
      codec->matrix[(size_t)i * k + j] = family->element(&codec->field, k, m, i, j);
  if (family->improve != NULL)
    family->improve(&codec->field, k, m, codec->matrix);
  codec->mds = true;
  return finish(out, codec);
}

gfsmith_status gfsmith_codec_create_matrix(gfsmith_codec **out, unsigned polynomial, unsigned k,
                                           unsigned m, const uint8_t *parity) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (parity == NULL || !shape_valid(k, m) || !gfs_field_polynomial_valid(polynomial))
    return GFSMITH_EINVAL;
  gfsmith_codec *codec = allocate(polynomial, k, m);
  if (codec == NULL)
    return GFSMITH_ENOMEM;
  memcpy(codec->matrix, parity, (size_t)k * m);
  return finish(out, codec);
}

void gfsmith_codec_destroy(gfsmith_codec *codec) {
  if (codec == NULL)
    return;
  gfs_repairs_free(codec->repairs);
  gfs_packets_free(codec->packets);
  free(codec->adders);
  gfs_map_destroy(codec->encoder);
  free(codec);
}

gfsmith_status gfsmith_codec_hint(gfsmith_codec *codec, gfsmith_hint hint) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  switch (hint) {
  case GFSMITH_HINT_AUTO:
  case GFSMITH_HINT_CACHED:
  case GFSMITH_HINT_STREAMING:
    codec->hint = hint;
    gfs_codec_find_short(codec);
    return GFSMITH_OK;
  }
  return GFSMITH_EINVAL;
}

gfsmith_status gfsmith_codec_packets(gfsmith_codec *codec, size_t packet) {
  if (codec == NULL || packet > SIZE_MAX / GFS_PACKETS)
    return GFSMITH_EINVAL;
  gfs_packets *packets = NULL;
  gfsmith_status status = GFSMITH_OK;
  if (packet > 0)
    status = gfs_packets_create(&packets, codec->isa, &codec->field, codec->k, codec->m,
                                codec->matrix, packet);
  if (status != GFSMITH_OK)
    return status;
  /* Cached repairs are valid for one layout only. */
  gfs_repairs *repairs = gfs_repairs_create();
  if (repairs == NULL) {
    gfs_packets_free(packets);
    return GFSMITH_ENOMEM;
  }
  gfs_repairs_free(codec->repairs);
  gfs_packets_free(codec->packets);
  codec->repairs = repairs;
  codec->packets = packets;
  gfs_codec_find_short(codec);
  return GFSMITH_OK;
}
