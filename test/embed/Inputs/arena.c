/* A cache in an arena of the caller's: nothing of it comes from malloc. */
#include "chat.h"

#include <stdio.h>
#include <string.h>

static _Alignas(64) char arena[1 << 20];
static size_t used, blocks;

static void *take(void *user, size_t bytes, size_t alignment) {
  size_t at = (used + alignment - 1) / alignment * alignment;
  if (at + bytes > *(const size_t *)user)
    return NULL;
  memset(arena + at, 0xff, bytes);
  used = at + bytes;
  ++blocks;
  return arena + at;
}

static void give(void *user, void *memory) {
  (void)user;
  blocks -= memory != NULL;
}

/* How many tokens fit into `capacity` bytes; -1 where something else fails. */
static int fill(size_t capacity) {
  const kvc_library_table *kvc = chat_library();
  kvc_options options = {.size = sizeof options,
                         .allocate = take,
                         .release = give,
                         .allocator_user = &capacity};
  static float x[CHAT_HEADS * CHAT_HEAD_DIM], out[sizeof x / sizeof *x];
  kvc_cache *cache;
  int tokens = 0;
  used = 0;
  if (kvc->create(&options, &cache) != KVC_OK)
    return blocks ? -1 : 0;
  for (; tokens < 500; ++tokens) {
    kvc_status status = KVC_OK;
    for (int layer = 0; layer < CHAT_LAYERS && status == KVC_OK; ++layer) {
      kvc_step step = {cache, layer, tokens, x, x, x, out, NULL, KVC_OK};
      status = kvc->decode(&step, 1);
    }
    if (status == KVC_OUT_OF_MEMORY)
      break;
    if (status != KVC_OK)
      return -1;
  }
  kvc->destroy(cache);
  return blocks ? -1 : tokens;
}

int main(void) {
  int none = fill(64), some = fill(32 * 1024), all = fill(sizeof arena);
  printf("%d, %s, %d\n", none, some > 0 && some < 500 ? "some" : "wrong", all);
  return 0;
}
