/*===- musl.c - a program by another C library ----------------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * usage: musl LIBRARY FILE
 *
 * Opens a library of docs/examples/embed/chat.yaml and has it take memory,
 * threads and files of the C library that this program has.
 *
 *===------------------------------------------------------------------------===*/

#include "kvc/kvc.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    printf("usage: musl LIBRARY FILE\n");
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    printf("dlopen: %s\n", dlerror());
    return 1;
  }
  kvc_library_function function;
  void *symbol = dlsym(library, "kvc_library");
  memcpy(&function, &symbol, sizeof function);
  const kvc_library_table *kvc = function();
  if (kvc->abi_version != KVC_ABI_VERSION)
    return 1;
  kvc_options options = {.size = sizeof options, .threads = 2};
  kvc_cache *cache, *loaded;
  if (kvc->create(&options, &cache) || kvc->create(NULL, &loaded)) {
    printf("%s\n", kvc->last_error(NULL));
    return 1;
  }
  static float q[4096], k[4096], v[4096], out[4096];
  for (int64_t position = 0; position < 300; ++position) {
    for (int i = 0; i < 4096; ++i) {
      q[i] = k[i] = (float)((position * 7 + i * 3) % 17 - 8) / 8;
      v[i] = 0.5f;
    }
    kvc_step step = {.cache = cache,
                     .position = position,
                     .q = q,
                     .k = k,
                     .v = v,
                     .out = out};
    if (kvc->decode(&step, 1)) {
      printf("%s\n", kvc->last_error(cache));
      return 1;
    }
  }
  printf("out %s\n", fabsf(out[0] - 0.5f) < 0.01f ? "is right" : "is wrong");
  kvc_stats before = {.size = sizeof before}, after = {.size = sizeof after};
  if (kvc->save(cache, argv[2]) || kvc->load(loaded, argv[2])) {
    printf("%s%s\n", kvc->last_error(cache), kvc->last_error(loaded));
    return 1;
  }
  kvc->stats(cache, 0, &before);
  kvc->stats(loaded, 0, &after);
  printf("loaded %d of %d tokens\n", (int)after.stored, (int)before.stored);
  kvc->decode(NULL, 1);
  printf("an error: %s\n", kvc->last_error(NULL));
  kvc->destroy(cache);
  kvc->destroy(loaded);
  return 0;
}
