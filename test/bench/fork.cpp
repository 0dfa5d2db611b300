//===- fork.cpp - what a fork costs, and the step behind it ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fork-bench <tokens> <library.so>: medians of the time of fork and destroy, of
// a decode step of all layers, and of the first one behind a fork, which copies
// pages.
//
//===----------------------------------------------------------------------===//

#include "kvc/kvc.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <vector>

static const kvc_library_table *library;

static void check(kvc_status status, kvc_cache *cache) {
  if (status == KVC_OK)
    return;
  std::fprintf(stderr, "fork-bench: %s\n", library->last_error(cache));
  std::exit(1);
}

static double secondsOf(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

static double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int main(int count, char **words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: fork-bench <tokens> <library.so>\n");
    return 1;
  }
  const int64_t tokens = std::atoll(words[1]);
  void *file = dlopen(words[2], RTLD_NOW);
  void *symbol = file ? dlsym(file, "kvc_library") : nullptr;
  if (!symbol || tokens < 1) {
    std::fprintf(stderr, "fork-bench: no library %s\n", words[2]);
    return 1;
  }
  library = reinterpret_cast<kvc_library_function>(symbol)();
  kvc_info about = {};
  about.size = sizeof about;
  library->info(&about);
  kvc_layer_info layer = {};
  layer.size = sizeof layer;
  library->layer_info(0, &layer);

  constexpr int64_t piece = 2048;
  std::mt19937 random(1);
  std::normal_distribution<float> gaussian;
  auto fill = [&](int64_t elements) {
    std::vector<float> values(static_cast<size_t>(elements));
    for (float &value : values)
      value = gaussian(random);
    return values;
  };
  const std::vector<float> k = fill(piece * layer.kv_heads * layer.head_dim),
                           v = fill(piece * layer.kv_heads * layer.value_dim),
                           q = fill(layer.heads * layer.head_dim);
  std::vector<float> out(static_cast<size_t>(layer.heads * layer.value_dim));

  kvc_cache *cache = nullptr;
  check(library->create(nullptr, &cache), nullptr);
  for (int64_t done = 0; done < tokens; done += piece)
    for (int32_t i = 0; i < about.layers; ++i) {
      kvc_chunk chunk = {};
      chunk.cache = cache;
      chunk.layer = i;
      chunk.position = done;
      chunk.tokens = std::min(piece, tokens - done);
      chunk.k = k.data();
      chunk.v = v.data();
      check(library->append(&chunk, 1), cache);
    }
  auto step = [&](kvc_cache *of, int64_t position) {
    for (int32_t i = 0; i < about.layers; ++i) {
      kvc_step one = {of,       i,          position, q.data(), k.data(),
                      v.data(), out.data(), nullptr,  KVC_OK};
      check(library->decode(&one, 1), of);
    }
  };

  std::vector<double> forks, firsts, seconds, destroys;
  int64_t held = 0, shared = 0;
  for (int round = 0; round < 21; ++round) {
    kvc_cache *fork = nullptr;
    forks.push_back(
        secondsOf([&] { check(library->fork(cache, nullptr, &fork), cache); }));
    held = shared = 0;
    for (int32_t i = 0; i < about.layers; ++i) {
      kvc_stats stats = {};
      stats.size = sizeof stats;
      check(library->stats(fork, i, &stats), fork);
      held += stats.held;
      shared += stats.shared;
    }
    firsts.push_back(secondsOf([&] { step(fork, tokens); }));
    seconds.push_back(secondsOf([&] { step(fork, tokens + 1); }));
    destroys.push_back(secondsOf([&] { library->destroy(fork); }));
  }
  std::printf("%lld tokens, %d layers: %.1f MB held by a fork, %.1f MB of them "
              "shared; medians of 21\n",
              static_cast<long long>(tokens), about.layers,
              static_cast<double>(held) / 1e6,
              static_cast<double>(shared) / 1e6);
  std::printf("fork               %10.3f ms\n", 1e3 * median(forks));
  std::printf("first step behind  %10.3f ms\n", 1e3 * median(firsts));
  std::printf("next step          %10.3f ms\n", 1e3 * median(seconds));
  std::printf("destroy            %10.3f ms\n", 1e3 * median(destroys));
  library->destroy(cache);
  return 0;
}
