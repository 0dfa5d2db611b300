/* A program that is careless in one way, which it is told: `query`, `key`,
 * `value`, `out` and `lse` are arrays that end too early; `short`, `odd` and
 * `freed` are memory that the cache gets. */
#include "tiny.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *careless = "";

static int is(const char *what) { return strcmp(careless, what) == 0; }

static char *newest; /* what allocate gave last */

static void *allocate(void *user, size_t bytes, size_t alignment) {
  size_t given = (bytes + alignment - 1) / alignment * alignment;
  (void)user;
  if (is("short") && given > alignment)
    given -= alignment;
  newest = aligned_alloc(alignment, given);
  return is("odd") ? newest + 4 : newest;
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

/* An array of its own, which is a number short where that is the carelessness.
 */
static float *numbers(const char *name, size_t count) {
  return calloc(count - (is(name) ? 1 : 0), sizeof(float));
}

static int run(void) {
  const kvc_library_table *kvc = tiny_library();
  kvc_options options = {sizeof(options)};
  kvc_cache *cache = NULL;
  float *q = numbers("query", 2 * 8), *k = numbers("key", 8),
        *v = numbers("value", 8), *out = numbers("out", 2 * 8),
        *lse = numbers("lse", 2);
  options.allocate = allocate;
  options.release = release;
  if (kvc->create(&options, &cache) != KVC_OK)
    return 1;
  for (int64_t position = 0; position < 100; ++position) {
    kvc_step step = {.cache = cache,
                     .position = position,
                     .q = q,
                     .k = k,
                     .v = v,
                     .out = out,
                     .lse = lse};
    if (kvc->decode(&step, 1) != KVC_OK)
      return 1;
    if (position == 20 && is("freed"))
      free(newest);
  }
  kvc->destroy(cache);
  free(q), free(k), free(v), free(out), free(lse);
  printf("no harm done\n");
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1)
    careless = argv[1];
  return run();
}
