//===- neon-step.cpp - one decode step of a library for aarch64 -----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   neon-step TOKENS
//
// The library that it is linked with, for aarch64 Linux, takes TOKENS - 1
// random tokens in layer 0 and then one that attends to all. neon-loops.py
// counts the instructions of that step. C's library alone is needed.
//
//===----------------------------------------------------------------------===//

#include "kvc/kvc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Of which library, the command line says: -DKVC_NEON_LIBRARY=name_library.
extern "C" const kvc_library_table *KVC_NEON_LIBRARY(void);

static uint32_t randomBits() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 32;
}

int main(int argc, char **argv) {
  const long tokens = argc > 1 ? atol(argv[1]) : 0;
  const kvc_library_table *table = tokens > 0 ? KVC_NEON_LIBRARY() : nullptr;
  if (!table) {
    fprintf(stderr, "usage: neon-step TOKENS, on a CPU that the library has\n");
    return 2;
  }
  kvc_layer_info layer = {};
  layer.size = sizeof layer;
  table->layer_info(0, &layer);
  const int64_t most = layer.heads * (layer.head_dim + layer.value_dim);
  auto *numbers = static_cast<float *>(malloc(2 * most * sizeof(float)));
  kvc_options options{};
  options.size = sizeof options;
  options.threads = 1;
  kvc_cache *cache = nullptr;
  kvc_status status = table->create(&options, &cache);
  for (long position = 0; status == KVC_OK && position < tokens; ++position) {
    for (int64_t i = 0; i < most; ++i)
      numbers[i] = static_cast<float>(randomBits()) * 0x1p-30f - 2;
    kvc_chunk chunk{};
    chunk.cache = cache, chunk.position = position, chunk.tokens = 1;
    chunk.k = numbers, chunk.v = numbers + layer.kv_heads * layer.head_dim;
    if (position + 1 < tokens) {
      status = table->append(&chunk, 1);
      continue;
    }
    chunk.q = numbers, chunk.out = numbers + most;
    status = table->prefill(&chunk, 1);
  }
  if (status != KVC_OK) {
    fprintf(stderr, "neon-step: %s\n", table->last_error(cache));
    return 1;
  }
  printf("%s: %ld tokens, %g\n", "neon-step", tokens,
         static_cast<double>(numbers[most]));
  table->destroy(cache);
  free(numbers);
  return 0;
}
