/* How much of a stack each call takes, of the library at argv[1]: of a thread's
 * stack that was painted before, the lowest byte that is not what it was. Fails
 * where a call takes more than argv[2] bytes. */
#include <kvc/kvc.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 1 << 20, TOKENS = 300 };

static const kvc_library_table *kvc;
static kvc_info info = {.size = sizeof info};
static kvc_layer_info layer = {.size = sizeof layer};
static kvc_cache *cache;
static char *q, *k, *v, *out, *snapshot;
static float *part, *lse, *keys, *values;
static size_t saved, taken;
static kvc_status status;

static size_t element(void) { return info.io == KVC_F32 ? 4 : 2; }

static void nothing(void) { status = KVC_OK; }

static void append(void) {
  kvc_chunk chunk = {.cache = cache, .tokens = TOKENS, .k = k, .v = v};
  status = kvc->append(&chunk, 1);
}

static void prefill(void) {
  kvc_chunk chunk = {.cache = cache,
                     .position = TOKENS,
                     .tokens = TOKENS,
                     .q = q,
                     .k = k,
                     .v = v,
                     .out = out};
  status = kvc->prefill(&chunk, 1);
}

static void decode(void) {
  kvc_step step = {.cache = cache,
                   .position = 2 * TOKENS,
                   .q = q,
                   .k = k,
                   .v = v,
                   .out = out};
  status = kvc->decode(&step, 1);
}

static void attend(void) {
  kvc_query query = {.cache = cache,
                     .position = 2 * TOKENS,
                     .tokens = 1,
                     .to = 2 * TOKENS,
                     .q = q,
                     .out = part,
                     .lse = lse};
  status = kvc->attend(&query, 1);
}

static void merge(void) {
  kvc_part parts[] = {{part, lse}, {part, lse}};
  status = kvc->merge(0, parts, 2, 1, out, NULL);
}

static void readAll(void) {
  status = kvc->read(cache, 0, 0, 8, keys, values, NULL);
}

static int put(void *user, const void *bytes, size_t count) {
  (void)user;
  snapshot = realloc(snapshot, saved + count);
  memcpy(snapshot + saved, bytes, count);
  saved += count;
  return 0;
}

static size_t get(void *user, void *bytes, size_t count) {
  (void)user;
  if (count > saved - taken)
    count = saved - taken;
  memcpy(bytes, snapshot + taken, count);
  taken += count;
  return count;
}

static void save(void) { status = kvc->save_to(cache, put, NULL); }
static void load(void) { status = kvc->load_from(cache, get, NULL); }
static void goBack(void) { status = kvc->truncate(cache, 2 * TOKENS + 1); }

static void *run(void *call) {
  ((void (*)(void))(size_t)call)();
  return NULL;
}

/* Bytes that `call` takes; with what a thread has there of its own. */
static size_t depthOf(void (*call)(void)) {
  unsigned char *stack = NULL;
  if (posix_memalign((void **)&stack, 4096, STACK))
    exit(1);
  memset(stack, 0xa5, STACK);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, STACK);
  if (pthread_create(&thread, &attributes, run, (void *)(size_t)call))
    exit(1);
  pthread_join(thread, NULL);
  size_t low = 0;
  while (low < STACK && stack[low] == 0xa5)
    ++low;
  free(stack);
  return STACK - low;
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*call)(void);
  } calls[] = {{"append", append}, {"prefill", prefill}, {"decode", decode},
               {"attend", attend}, {"merge", merge},     {"read", readAll},
               {"save", save},     {"load", load},       {"truncate", goBack}};
  void *library = count > 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (!library)
    return fprintf(stderr, "usage: calls-on-stack LIBRARY MOST\n"), 2;
  kvc = ((kvc_library_function)(size_t)dlsym(library, "kvc_library"))();
  const size_t most = strtoul(arguments[2], NULL, 10);
  if (kvc->info(&info) || kvc->layer_info(0, &layer) ||
      kvc->create(NULL, &cache))
    return fprintf(stderr, "%s\n", kvc->last_error(NULL)), 1;
  const size_t heads = layer.heads, kv = layer.kv_heads;
  q = calloc(TOKENS * heads * layer.head_dim, element());
  k = calloc(TOKENS * kv * layer.head_dim, element());
  v = calloc(TOKENS * kv * layer.value_dim, element());
  out = calloc(TOKENS * heads * layer.value_dim, element());
  part = calloc(heads * layer.value_dim, sizeof(float));
  lse = calloc(heads, sizeof(float));
  keys = calloc(8 * kv * layer.head_dim, sizeof(float));
  values = calloc(8 * kv * layer.value_dim, sizeof(float));
  const size_t own = depthOf(nothing);
  int wrong = 0;
  printf("%s:", info.name);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    const size_t depth = depthOf(calls[i].call) - own;
    if (status != KVC_OK)
      return fprintf(stderr, "%s: %s\n", calls[i].name, kvc->last_error(cache)),
             1;
    printf(" %s %zu", calls[i].name, depth);
    wrong |= depth > most;
  }
  printf("\n");
  return wrong;
}
