/*===- load.c - a library of kvc, loaded and tried ------------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 *   cc -I runtime/include packaging/macos/load.c -o load    (Linux: -ldl too)
 *   ./load decode.dylib [TOKENS [CHECKSUM]]
 *
 * Opens a library that it does not know, plays TOKENS made tokens (default 200)
 * through it, and holds the library against itself: prefill against decode
 * steps, threads against none, a snapshot in a file against one in memory. It
 * prints a checksum of the snapshot: the same tokens give the same bytes on
 * every target, so that a library for another machine, made of the same spec,
 * prints the same; where it is given it must be that one. Exit code 0 where all
 * is well.
 *
 *===------------------------------------------------------------------------===*/

#define _POSIX_C_SOURCE 200809L

#include "kvc/kvc.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const kvc_library_table *kvc;
static kvc_info about = {.size = sizeof about};
static kvc_layer_info *layers;
static int failures;

static void say(int good, const char *what) {
  printf("%-44s %s\n", what, good ? "ok" : "FAILED");
  failures += !good;
}

/* Memory is never given back: the program is short. */
static void *room(int64_t bytes) {
  void *memory = calloc(1, bytes > 0 ? (size_t)bytes : 1);
  if (!memory) {
    fprintf(stderr, "load: out of memory\n");
    exit(1);
  }
  return memory;
}

static void die(const char *call, kvc_status status, const kvc_cache *cache) {
  printf("%s: %s: %s\n", call, kvc->status_name(status),
         kvc->last_error(cache));
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/*===-- Numbers of the io type
 * ----------------------------------------------===*/

static int64_t width(void) { return about.io == KVC_F32 ? 4 : 2; }

/* A multiple of 1/8 from -1 to 1: exact in every type. */
static void put(void *row, int64_t index, int eighths) {
  if (about.io == KVC_F32) {
    ((float *)row)[index] = (float)eighths / 8;
    return;
  }
  float value = (float)eighths / 8;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  /* f16 has an exponent less by 112, and 10 bits of fraction. */
  uint32_t half = eighths == 0 ? 0 : ((bits >> 13) & 0x3ffff) - (112 << 10);
  ((uint16_t *)row)[index] =
      about.io == KVC_BF16
          ? (uint16_t)(bits >> 16)
          : (uint16_t)((bits >> 16 & 0x8000) | (half & 0x7fff));
}

static double get(const void *row, int64_t index) {
  if (about.io == KVC_F32)
    return (double)((const float *)row)[index];
  uint32_t bits = ((const uint16_t *)row)[index];
  if (about.io == KVC_BF16) {
    float value;
    bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
  }
  const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
  const double size = exponent == 0    ? ldexp(fraction, -24)
                      : exponent == 31 ? (double)INFINITY
                                       : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

static void make(void *row, int64_t size, int64_t token, int layer, int what) {
  uint32_t state = (uint32_t)(token * 40503 + layer * 977 + what * 131 + 1);
  for (int64_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    put(row, i, (int)(state >> 24) % 17 - 8);
  }
}

/*===-- Playing tokens
 * ------------------------------------------------------===*/

static int64_t outSize(int layer) {
  return (int64_t)layers[layer].heads * layers[layer].value_dim;
}

static kvc_cache *create(int threads) {
  const float **sinks = room(about.layers * (int64_t)sizeof *sinks);
  int any = 0;
  for (int layer = 0; layer < about.layers; ++layer)
    if (layers[layer].learned_sinks) {
      sinks[layer] = room(layers[layer].heads * (int64_t)sizeof(float));
      any = 1;
    }
  char text[256] = "";
  kvc_options options = {.size = sizeof options,
                         .threads = threads,
                         .learned_sinks = any ? sinks : NULL,
                         .error = text,
                         .error_size = sizeof text};
  kvc_cache *cache = NULL;
  kvc_status status = kvc->create(&options, &cache);
  if (status != KVC_OK) {
    printf("create: %s: %s\n", kvc->status_name(status), text);
    exit(1);
  }
  return cache;
}

/* Tokens [from, to) of one layer in one call: as a step where `decode` is set,
 * which wants one token, else as a chunk. */
static void play(kvc_cache *cache, int layer, int64_t from, int64_t to,
                 int decode, char *out) {
  const kvc_layer_info *shape = &layers[layer];
  const int64_t tokens = to - from, bytes = width();
  const int64_t queries = (int64_t)shape->heads * shape->head_dim,
                keys = (int64_t)shape->kv_heads * shape->head_dim,
                values = (int64_t)shape->kv_heads * shape->value_dim;
  const int owner = shape->owner == layer;
  char *q = room(tokens * queries * bytes), *k = room(tokens * keys * bytes),
       *v = room(tokens * values * bytes);
  for (int64_t token = 0; token < tokens; ++token) {
    make(q + token * queries * bytes, queries, from + token, layer, 0);
    make(k + token * keys * bytes, keys, from + token, layer, 1);
    make(v + token * values * bytes, values, from + token, layer, 2);
  }
  kvc_status status;
  if (decode) {
    kvc_step step = {.cache = cache,
                     .layer = layer,
                     .position = from,
                     .q = q,
                     .k = owner ? k : NULL,
                     .v = owner ? v : NULL,
                     .out = out};
    status = kvc->decode(&step, 1);
  } else {
    kvc_chunk chunk = {.cache = cache,
                       .layer = layer,
                       .position = from,
                       .tokens = tokens,
                       .q = q,
                       .k = owner ? k : NULL,
                       .v = owner ? v : NULL,
                       .out = out};
    status = kvc->prefill(&chunk, 1);
  }
  if (status != KVC_OK)
    die(decode ? "decode" : "prefill", status, cache);
  free(q), free(k), free(v);
}

/* All layers, `length` tokens; what comes out at the last token, layer by
 * layer, goes to `last`. */
static void playAll(kvc_cache *cache, int64_t length, int64_t piece,
                    char *last) {
  for (int64_t from = 0; from < length; from += piece) {
    const int64_t to = from + piece < length ? from + piece : length;
    char *at = last;
    for (int layer = 0; layer < about.layers; ++layer) {
      const int64_t row = outSize(layer) * width();
      char *out = room((to - from) * row);
      play(cache, layer, from, to, piece == 1, out);
      memcpy(at, out + (to - from - 1) * row, (size_t)row);
      at += row;
      free(out);
    }
  }
}

/*===-- Snapshots
 * -----------------------------------------------------------===*/

/* FNV-1a, 64 bits. */
static int hash(void *user, const void *bytes, size_t count) {
  uint64_t *sum = user;
  for (size_t i = 0; i < count; ++i)
    *sum = (*sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return 0;
}

static uint64_t checksum(kvc_cache *cache) {
  uint64_t sum = 0xcbf29ce484222325u;
  kvc_status status = kvc->save_to(cache, hash, &sum);
  if (status != KVC_OK)
    die("save_to", status, cache);
  return sum;
}

static void tryFile(kvc_cache *cache, uint64_t sum) {
  const char *path = "kvc-load.snapshot";
  kvc_status status = kvc->save(cache, path);
  if (status != KVC_OK)
    die("save", status, cache);
  kvc_cache *other = create(0);
  status = kvc->load(other, path);
  if (status != KVC_OK)
    die("load", status, other);
  say(checksum(other) == sum, "a snapshot in a file, saved and loaded");
  kvc->destroy(other);
  remove(path);
  say(kvc->load(cache, "there is no such file") == KVC_IO &&
          kvc->last_error(cache)[0] && checksum(cache) == sum,
      "a file that is not there is refused");
}

/*===-- All of it
 * -----------------------------------------------------------===*/

static void open(const char *path) {
  /* Without a slash dlopen would look in the system's folders. */
  char *file = room((int64_t)strlen(path) + 3);
  strcat(strcpy(file, strchr(path, '/') ? "" : "./"), path);
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("dlopen: %s\n", dlerror());
    exit(1);
  }
  kvc_library_function function;
  void *symbol = dlsym(library, "kvc_library");
  if (!symbol) {
    printf("it has no kvc_library(): kvc did not make it\n");
    exit(1);
  }
  memcpy(&function, &symbol, sizeof function);
  kvc = function();
  if (!kvc || kvc->abi_version != KVC_ABI_VERSION ||
      kvc->size < sizeof(kvc_library_table) || kvc->info(&about) != KVC_OK) {
    printf("it has another version of the C interface than this program\n");
    exit(1);
  }
}

static int64_t describe(int64_t tokens) {
  printf("%s, for %s, %d layers\n", about.name, about.target, about.layers);
  layers = room(about.layers * (int64_t)sizeof *layers);
  for (int layer = 0; layer < about.layers; ++layer) {
    layers[layer].size = sizeof *layers;
    kvc->layer_info(layer, &layers[layer]);
    if (layers[layer].limit >= 0 && layers[layer].limit < tokens)
      tokens = layers[layer].limit;
  }
  printf("layer 0: %d query heads, %d of keys, %d channels; %s\n",
         layers[0].heads, layers[0].kv_heads, layers[0].head_dim,
         layers[0].policy);
  return tokens;
}

int main(int count, char **words) {
  if (count < 2) {
    fprintf(stderr, "usage: load LIBRARY [TOKENS [CHECKSUM]]\n");
    return 2;
  }
  const long wanted = count > 2 ? atol(words[2]) : 200;
  open(words[1]);
  const int64_t tokens = describe(wanted > 0 ? wanted : 1);

  int64_t size = 0, chunk = 64;
  for (int layer = 0; layer < about.layers; ++layer) {
    size += outSize(layer);
    if (layers[layer].chunk > 0 && layers[layer].chunk < chunk)
      chunk = layers[layer].chunk;
  }
  char *steps = room(size * width()), *chunks = room(size * width()),
       *threaded = room(size * width());

  kvc_cache *cache = create(0);
  const double start = seconds();
  playAll(cache, tokens, 1, steps);
  const double took = seconds() - start;
  int finite = 1;
  double worst = 0, most = 0;
  for (int64_t i = 0; i < size; ++i) {
    finite &= isfinite(get(steps, i)) != 0;
    most = fmax(most, fabs(get(steps, i)));
  }
  /* Values lie within [-1, 1], and so do their weighted means; codes are off
   * by less than the 2/3 that lie between two of 2 bits. */
  say(finite && most > 0 && most < 2, "what comes out is of values' size");
  const uint64_t sum = checksum(cache);

  kvc_cache *other = create(0);
  playAll(other, tokens, chunk, chunks);
  say(checksum(other) == sum, "prefill stores what decode steps store");
  for (int64_t i = 0; i < size; ++i)
    worst = fmax(worst, fabs(get(chunks, i) - get(steps, i)));
  /* Wide enough for 8-bit arithmetic and bf16. */
  say(worst <= 0.2, "prefill answers as decode steps do");
  kvc->destroy(other);

  other = create(2);
  playAll(other, tokens, 1, threaded);
  say(checksum(other) == sum &&
          memcmp(threaded, steps, (size_t)(size * width())) == 0,
      "on two threads, to the bit");
  kvc->destroy(other);
  tryFile(cache, sum);
  kvc->destroy(cache);

  printf("%" PRId64 " tokens, %.1f us a token with the program's own work\n",
         tokens, took * 1e6 / (double)tokens);
  printf("checksum %016" PRIx64 "\n", sum);
  if (count > 3)
    say(strtoull(words[3], NULL, 16) == sum, "the checksum that was expected");
  return failures != 0;
}
