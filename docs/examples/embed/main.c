/*===- main.c - a library of kvc in a C program ---------------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 *   kvc compile chat.yaml -o chat.a && cc main.c chat.a -o chat && ./chat
 *
 *===------------------------------------------------------------------------===*/

#include "chat.h"

#include <stdio.h>

enum { TOKENS = 200 };

static float q[CHAT_HEADS * CHAT_HEAD_DIM], k[CHAT_KV_HEADS * CHAT_HEAD_DIM],
    v[CHAT_KV_HEADS * CHAT_VALUE_DIM], out[CHAT_HEADS * CHAT_VALUE_DIM];

/* Stands for a model: some numbers for each token and layer. */
static void project(float *row, int size, long position, int layer) {
  for (int i = 0; i < size; ++i)
    row[i] = (float)((position * 7 + layer * 5 + i * 3) % 17 - 8) / 8;
}

static int decode(const kvc_library_table *kvc, kvc_cache *cache, long from,
                  long to) {
  for (long position = from; position < to; ++position)
    for (int layer = 0; layer < CHAT_LAYERS; ++layer) {
      project(q, CHAT_HEADS * CHAT_HEAD_DIM, position, layer);
      project(k, CHAT_KV_HEADS * CHAT_HEAD_DIM, position, layer);
      project(v, CHAT_KV_HEADS * CHAT_VALUE_DIM, position, layer);
      kvc_step step = {.cache = cache,
                       .layer = layer,
                       .position = position,
                       .q = q,
                       .k = k,
                       .v = v,
                       .out = out};
      if (kvc->decode(&step, 1) != KVC_OK) {
        fprintf(stderr, "%s\n", kvc->last_error(cache));
        return 1;
      }
    }
  return 0;
}

static void report(const kvc_library_table *kvc, kvc_cache *cache) {
  for (int layer = 0; layer < CHAT_LAYERS; ++layer) {
    kvc_stats stats = {.size = sizeof stats};
    if (kvc->stats(cache, layer, &stats) == KVC_OK)
      printf("layer %d: %ld of %ld tokens, %ld bytes of codes, %ld held\n",
             layer, (long)stats.stored, (long)stats.seen,
             (long)stats.used.codes, (long)stats.held);
  }
}

/* A draft of four tokens on a cache of its own, of which one is kept; then what
 * was there before, from a file. */
static int branch(const kvc_library_table *kvc, kvc_cache *cache) {
  kvc_cache *draft;
  if (kvc->save(cache, "chat.kv") != KVC_OK ||
      kvc->fork(cache, NULL, &draft) != KVC_OK) {
    fprintf(stderr, "%s\n", kvc->last_error(cache));
    return 1;
  }
  int failed = decode(kvc, draft, TOKENS, TOKENS + 4);
  if (kvc->truncate(draft, TOKENS + 1) != KVC_OK) {
    fprintf(stderr, "%s\n", kvc->last_error(draft));
    failed = 1;
  }
  kvc_stats mine = {.size = sizeof mine}, its = {.size = sizeof its};
  if (kvc->stats(draft, 0, &mine) == KVC_OK &&
      kvc->load(draft, "chat.kv") == KVC_OK &&
      kvc->stats(draft, 0, &its) == KVC_OK)
    printf("a draft had %ld tokens, %s; the file has %ld\n", (long)mine.seen,
           mine.shared > 0 ? "most of them shared" : "none of them shared",
           (long)its.seen);
  kvc->destroy(draft);
  return failed;
}

int main(void) {
  const kvc_library_table *kvc = chat_library();
  if (kvc->abi_version != KVC_ABI_VERSION) /* chat.h is of another chat.a */
    return 1;
  kvc_options options = {.size = sizeof options}; /* the rest: defaults */
  kvc_cache *cache;
  kvc_status status = kvc->create(&options, &cache);
  if (status != KVC_OK) { /* this CPU lacks something, or memory is short */
    fprintf(stderr, "%s: %s\n", kvc->status_name(status),
            kvc->last_error(NULL));
    return 1;
  }
  int failed = decode(kvc, cache, 0, TOKENS);
  report(kvc, cache);
  failed |= branch(kvc, cache);

  /* An error changes nothing; the cache says what it was. */
  kvc_step again = {.cache = cache, .q = q, .k = k, .v = v, .out = out};
  status = kvc->decode(&again, 1);
  printf("%s: %s\n", kvc->status_name(status), kvc->last_error(cache));

  kvc->destroy(cache);
  return failed || status != KVC_ORDER;
}
