//===- main.cpp - a library of kvc in a C++ program -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   kvc compile chat.yaml -o chat.a && c++ main.cpp chat.a -o chat && ./chat
//
//===----------------------------------------------------------------------===//

#include "chat.h"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// One sequence: a cache that goes when its owner goes, errors as exceptions.
class Sequence {
public:
  explicit Sequence(const kvc_library_table *kvc)
      : kvc(kvc), cache(nullptr, kvc->destroy) {
    if (kvc->abi_version != KVC_ABI_VERSION)
      throw std::runtime_error("the library and its header do not match");
    kvc_cache *made = nullptr;
    if (kvc_status status = kvc->create(nullptr, &made))
      throw std::runtime_error(std::string(kvc->status_name(status)) + ": " +
                               kvc->last_error(nullptr));
    cache.reset(made);
  }

  void decode(int layer, int64_t position, const float *q, const float *k,
              const float *v, float *out) {
    kvc_step step{};
    step.cache = cache.get();
    step.layer = layer;
    step.position = position;
    step.q = q;
    step.k = k;
    step.v = v;
    step.out = out;
    if (kvc->decode(&step, 1))
      throw std::runtime_error(kvc->last_error(cache.get()));
  }

  kvc_stats stats(int layer) const {
    kvc_stats result{};
    result.size = sizeof result;
    if (kvc->stats(cache.get(), layer, &result))
      throw std::runtime_error(kvc->last_error(cache.get()));
    return result;
  }

private:
  const kvc_library_table *kvc;
  std::unique_ptr<kvc_cache, void (*)(kvc_cache *)> cache;
};

int main() try {
  Sequence sequence(chat_library());
  std::vector<float> q(CHAT_HEADS * CHAT_HEAD_DIM, 0.5f),
      k(CHAT_KV_HEADS * CHAT_HEAD_DIM, 0.25f),
      v(CHAT_KV_HEADS * CHAT_VALUE_DIM, 2.0f), out(CHAT_HEADS * CHAT_VALUE_DIM);
  for (int64_t position = 0; position < 200; ++position)
    for (int layer = 0; layer < CHAT_LAYERS; ++layer)
      sequence.decode(layer, position, q.data(), k.data(), v.data(),
                      out.data());
  kvc_stats stats = sequence.stats(0);
  std::printf("stored %d, evicted %d, out %.3f\n", int(stats.stored),
              int(stats.evicted), out[0]);
  try {
    sequence.decode(0, 5, q.data(), k.data(), v.data(), out.data());
  } catch (const std::runtime_error &error) {
    std::printf("refused: %s\n", error.what());
  }
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
