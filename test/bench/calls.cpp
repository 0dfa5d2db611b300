//===- calls.cpp - prefill and threads beside single decode steps ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   calls-bench TOKENS CHUNK LIB...
//
// For each library: two caches are filled with TOKENS random tokens in every
// layer, one on one thread, one on two. Then, round by round, each takes some
// decode steps, and the first a prefill of CHUNK tokens. Printed are medians a
// token and layer, and two ratios: of the prefill to as many steps, and of two
// threads to one. Choose as many layers as do not fit into the last-level
// cache together. Machines are noisy: only ratios of one run mean something.
//
//===----------------------------------------------------------------------===//

#include "kvc/kvc.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <random>
#include <vector>

namespace {

constexpr int rounds = 5, steps = 9;

/// Bytes of any float type: small numbers of both signs.
std::vector<char> randomBytes(int64_t elements, kvc_type io,
                              std::minstd_rand &random) {
  const int64_t width = io == KVC_F32 ? 4 : 2;
  std::vector<char> bytes(elements * width);
  for (int64_t i = 0; i < elements; ++i) {
    // Sign and exponent of +-[0.5, 1) in each type, then any mantissa.
    const unsigned top = io == KVC_F16 ? 0x38 : 0x3f;
    for (int64_t j = 0; j < width - 1; ++j)
      bytes[i * width + j] = static_cast<char>(random() & 0x7f);
    bytes[i * width + width - 1] =
        static_cast<char>(top | (random() & 1 ? 0x80 : 0));
  }
  return bytes;
}

struct Sequence {
  const kvc_library_table *table = nullptr;
  kvc_cache *cache = nullptr;
  kvc_info info = {};
  info.size = sizeof info;
  std::vector<char> q, k, v, out;
  int64_t position = 0;

  bool open(const kvc_library_table *its, int32_t threads, int64_t chunk) {
    table = its;
    table->info(&info);
    kvc_layer_info layer = {};
    layer.size = sizeof layer;
    table->layer_info(0, &layer);
    std::minstd_rand random(1);
    q = randomBytes(chunk * layer.heads * layer.head_dim, info.io, random);
    k = randomBytes(chunk * layer.kv_heads * layer.head_dim, info.io, random);
    v = randomBytes(chunk * layer.kv_heads * layer.value_dim, info.io, random);
    out.resize(chunk * layer.heads * layer.value_dim * 4);
    kvc_options options{};
    options.size = sizeof(options);
    options.threads = threads;
    return table->create(&options, &cache) == KVC_OK;
  }

  /// Seconds a token and layer of one call in each layer; below 0: it fails.
  double take(int64_t tokens, bool attends) {
    auto start = std::chrono::steady_clock::now();
    for (int32_t number = 0; number < info.layers; ++number) {
      kvc_chunk chunk{};
      chunk.cache = cache, chunk.layer = number, chunk.position = position;
      chunk.tokens = tokens, chunk.k = k.data(), chunk.v = v.data();
      if (attends)
        chunk.q = q.data(), chunk.out = out.data();
      auto call = attends ? table->prefill : table->append;
      if (call(&chunk, 1) != KVC_OK) {
        std::fprintf(stderr, "calls-bench: %s\n", table->last_error(cache));
        std::exit(1);
      }
    }
    position += tokens;
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    return took.count() / static_cast<double>(tokens * info.layers);
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool measure(const char *path, int64_t tokens, int64_t chunk) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto entry =
      handle
          ? reinterpret_cast<kvc_library_function>(dlsym(handle, "kvc_library"))
          : nullptr;
  if (!entry) {
    std::fprintf(stderr, "calls-bench: %s\n", dlerror());
    return false;
  }
  Sequence one, two;
  if (!one.open(entry(), 1, chunk) || !two.open(entry(), 2, chunk))
    return false;
  for (Sequence *sequence : {&one, &two})
    while (sequence->position < tokens)
      sequence->take(std::min(chunk, tokens - sequence->position), false);
  std::vector<double> alone, shared, threads, prefills, share;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> step;
    for (int i = 0; i < steps; ++i) {
      step.push_back(one.take(1, true));
      shared.push_back(two.take(1, true));
      threads.push_back(shared.back() / step.back());
    }
    alone.insert(alone.end(), step.begin(), step.end());
    prefills.push_back(one.take(chunk, true));
    share.push_back(prefills.back() / median(step));
  }
  std::printf("%-10s %8lld %6d %12.1f %12.1f %12.1f %10.3f %10.3f\n",
              one.info.name, static_cast<long long>(tokens), one.info.layers,
              median(alone) * 1e6, median(shared) * 1e6, median(prefills) * 1e6,
              median(threads), median(share));
  one.table->destroy(one.cache);
  two.table->destroy(two.cache);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  const int64_t tokens = argc > 3 ? std::atoll(argv[1]) : 0;
  const int64_t chunk = argc > 3 ? std::atoll(argv[2]) : 0;
  if (tokens <= 0 || chunk <= 0) {
    std::fprintf(stderr, "usage: calls-bench TOKENS CHUNK LIB...\n");
    return 1;
  }
  std::printf("%-10s %8s %6s %12s %12s %12s %10s %10s\n", "library", "tokens",
              "layers", "us a step", "2 threads", "us prefilled", "2 : 1",
              "prefill");
  for (int i = 3; i < argc; ++i)
    if (!measure(argv[i], tokens, chunk))
      return 1;
  return 0;
}
