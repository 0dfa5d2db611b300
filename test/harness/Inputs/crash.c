/* A library of one layer that runs until its first step, which no CPU takes. */
#include "kvc/kvc.h"

static kvc_status info(kvc_info *out) {
  kvc_info about = {sizeof about, KVC_ABI_VERSION, "crash", "",
                    "x86-64-v3",  KVC_F32,         1,       1};
  *out = about;
  return KVC_OK;
}

static kvc_status layerInfo(int32_t layer, kvc_layer_info *out) {
  kvc_layer_info shape = {.size = sizeof shape,
                          .heads = 2,
                          .kv_heads = 1,
                          .head_dim = 8,
                          .value_dim = 8,
                          .piece = 1,
                          .chunk = -1,
                          .limit = -1,
                          .policy = ""};
  *out = shape;
  return layer ? KVC_INVALID_ARGUMENT : KVC_OK;
}

static kvc_status create(const kvc_options *options, kvc_cache **out) {
  static char cache;
  (void)options;
  *out = (kvc_cache *)&cache;
  return KVC_OK;
}

static void destroy(kvc_cache *cache) { (void)cache; }

static kvc_status decode(kvc_step *steps, size_t count) {
  (void)steps, (void)count;
  __builtin_trap();
}

const kvc_library_table *kvc_library(void) {
  static kvc_library_table table = {KVC_ABI_VERSION, sizeof(table)};
  table.info = info;
  table.layer_info = layerInfo;
  table.create = create;
  table.destroy = destroy;
  table.decode = decode;
  return &table;
}
