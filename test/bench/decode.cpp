//===- decode.cpp - time of a decode step, libraries side by side ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   decode-bench TOKENS LIB...
//
// Fills a cache of each library with TOKENS random tokens, then takes the
// libraries in turn, 21 rounds of one step in every layer, and prints the
// medians: time a step and layer, bytes of cache it read, and the ratio to the
// first library. Machines are noisy: only ratios of one run mean something.
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

constexpr int Rounds = 21;

struct Candidate {
  const kvc_library_table *table = nullptr;
  kvc_cache *cache = nullptr;
  kvc_info info{};
  std::vector<float> q, k, v, out;
  std::vector<double> microseconds; ///< a layer

  bool open(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto entry = handle ? reinterpret_cast<kvc_library_function>(
                              dlsym(handle, "kvc_library"))
                        : nullptr;
    if (!entry) {
      std::fprintf(stderr, "decode-bench: %s\n", dlerror());
      return false;
    }
    table = entry();
    kvc_layer_info layer;
    table->layer_info(0, &layer);
    q.resize(layer.heads * layer.head_dim);
    k.resize(layer.kv_heads * layer.head_dim);
    v.resize(layer.kv_heads * layer.value_dim);
    out.resize(layer.heads * layer.value_dim);
    return table->info(&info) == KVC_OK &&
           table->create(nullptr, &cache) == KVC_OK;
  }

  bool step(int64_t position) {
    for (int32_t layer = 0; layer < info.layers; ++layer) {
      kvc_step one{};
      one.cache = cache, one.layer = layer, one.position = position;
      one.q = q.data(), one.k = k.data(), one.v = v.data();
      one.out = out.data();
      if (table->decode(&one, 1) != KVC_OK) {
        std::fprintf(stderr, "decode-bench: %s\n", table->last_error(cache));
        return false;
      }
    }
    return true;
  }

  int64_t bytesRead() const {
    kvc_stats stats;
    table->stats(cache, 0, &stats);
    return stats.used.codes + stats.used.scales + stats.used.residual +
           stats.used.sinks;
  }
};

void fill(std::vector<float> &values, std::minstd_rand &random) {
  for (float &value : values)
    value = static_cast<float>(random()) / std::minstd_rand::max() * 2 - 1;
}

} // namespace

int main(int argc, char **argv) {
  const int64_t tokens = argc > 2 ? std::atoll(argv[1]) : 0;
  if (tokens <= 0) {
    std::fprintf(stderr, "usage: decode-bench TOKENS LIB...\n");
    return 1;
  }
  std::vector<Candidate> all(argc - 2);
  std::minstd_rand random(1);
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].open(argv[i + 2]))
      return 1;
  for (int64_t position = 0; position < tokens + Rounds; ++position)
    for (Candidate &one : all) {
      fill(one.q, random), fill(one.k, random), fill(one.v, random);
      auto start = std::chrono::steady_clock::now();
      if (!one.step(position))
        return 1;
      std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      if (position >= tokens)
        one.microseconds.push_back(took.count() / one.info.layers);
    }
  std::printf("%-16s %8s %12s %10s %8s %8s\n", "library", "tokens",
              "us a layer", "least", "GB/s", "ratio");
  double first = 0;
  for (Candidate &one : all) {
    std::sort(one.microseconds.begin(), one.microseconds.end());
    const double median = one.microseconds[Rounds / 2];
    if (first == 0)
      first = median;
    std::printf("%-16s %8lld %12.1f %10.1f %8.2f %8.3f\n", one.info.name,
                static_cast<long long>(tokens), median, one.microseconds[0],
                static_cast<double>(one.bytesRead()) / median / 1e3,
                median / first);
    one.table->destroy(one.cache);
  }
  return 0;
}
