/* Two libraries in one program: each has its own caches and its own errors. */
#include "stages.h"
#include "tiny.h"

#include <stdio.h>
#include <string.h>

static float in[64], out[64];

/* 0 where a cache of this library decodes `count` tokens and sees them. */
static int use(const kvc_library_table *kvc, const char *name, int64_t count) {
  kvc_info info = {.size = sizeof info};
  kvc_cache *cache;
  kvc_layer_info shape = {.size = sizeof shape};
  kvc_stats stats = {.size = sizeof stats};
  kvc_step step;
  if (kvc->info(&info) || strcmp(info.name, name) || kvc->create(NULL, &cache))
    return 1;
  for (int64_t position = 0; position < count; ++position)
    for (int32_t layer = 0; layer < info.layers; ++layer) {
      memset(&step, 0, sizeof step);
      step.cache = cache;
      step.layer = layer;
      step.position = position;
      step.q = in;
      step.out = out;
      if (kvc->layer_info(layer, &shape))
        return 1;
      if (shape.owner == layer)
        step.k = step.v = in;
      if (kvc->decode(&step, 1))
        return 1;
    }
  if (kvc->stats(cache, 0, &stats) || stats.seen != count || out[0] < 0.999f ||
      out[0] > 1.001f)
    return 1;
  /* The error is of this library's cache: the next position is `count`. */
  step.position = 7777;
  if (kvc->decode(&step, 1) != KVC_ORDER ||
      !strstr(kvc->last_error(cache), "7777"))
    return 1;
  kvc->destroy(cache);
  return 0;
}

int main(void) {
  const kvc_library_table *stages = stages_library(), *tiny = tiny_library();
  for (int i = 0; i < 64; ++i)
    in[i] = 1;
  if (stages == tiny || use(stages, "stages", 70) || use(tiny, "tiny", 90)) {
    puts("wrong");
    return 1;
  }
  puts("both right");
  return 0;
}
