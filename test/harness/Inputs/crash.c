/* A library of one layer that runs until its first step, which no CPU takes. */
#include "kvc/kvc.h"

static kvc_status info(kvc_info *out) {
  kvc_info about = {KVC_ABI_VERSION, "crash", "", "none", KVC_F32, 1, 1};
  *out = about;
  return KVC_OK;
}

static kvc_status layerInfo(int32_t layer, kvc_layer_info *out) {
  kvc_layer_info shape = {2, 1, 8, 8, 0, 0, ""};
  *out = shape;
  return layer ? KVC_INVALID_ARGUMENT : KVC_OK;
}

static kvc_status create(const kvc_options *options, kvc_cache **out) {
  static char cache;
  (void)options;
  *out = (kvc_cache *)&cache;
  return KVC_OK;
}

static kvc_status decode(kvc_step *steps, size_t count) {
  (void)steps, (void)count;
  __builtin_trap();
}

const kvc_library_table *kvc_library(void) {
  static kvc_library_table table = {KVC_ABI_VERSION, sizeof(table)};
  table.info = info;
  table.layer_info = layerInfo;
  table.create = create;
  table.decode = decode;
  return &table;
}
