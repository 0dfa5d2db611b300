//===- RuntimeInterfaceTest.cpp - errors without a cache, and sizes -------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call that fails says why, also where no cache keeps the text; and a struct
// that grows is as large as its caller says.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace kvc;
using namespace kvc::test;

namespace {

std::string threadError() { return library().last_error(nullptr); }

kvc_options goodOptions() {
  kvc_options options = {};
  options.size = sizeof(options);
  options.learned_sinks = learnedSinks;
  return options;
}

/// A call that has no cache to keep its text.
void fails(kvc_status status, const char *text) {
  CHECK_EQ(status, KVC_INVALID_ARGUMENT);
  CHECK_EQ(threadError(), text);
}

void saysWhatIsNull() {
  const kvc_library_table &kvc = library();
  auto write = [](void *, const void *, size_t) { return 0; };
  auto read = [](void *, void *, size_t) { return size_t{0}; };
  int64_t number;
  kvc_stats stats = {};
  stats.size = sizeof(stats);
  const char *const null = "cache is null";
  fails(kvc.reset(nullptr), null);
  for (int i = 0; i < 2; ++i) {
    // The text of one call is not that of the next.
    fails(kvc.decode(nullptr, 3), "the array of items is null");
    fails(kvc.stored(nullptr, 0, &number), null);
  }
  fails(kvc.prefill(nullptr, 1), "the array of items is null");
  fails(kvc.append(nullptr, 1), "the array of items is null");
  fails(kvc.attend(nullptr, 1), "the array of items is null");
  fails(kvc.read(nullptr, 0, 0, 0, nullptr, nullptr, nullptr), null);
  fails(kvc.stats(nullptr, 0, &stats), null);
  fails(kvc.truncate(nullptr, 0), null);
  fails(kvc.save(nullptr, "file"), null);
  fails(kvc.load(nullptr, "file"), null);
  fails(kvc.save_to(nullptr, write, nullptr), null);
  fails(kvc.load_from(nullptr, read, nullptr), null);
  kvc_cache *cache = nullptr;
  fails(kvc.fork(nullptr, nullptr, &cache), null);
  CHECK_EQ(kvc.decode(nullptr, 0), KVC_OK);

  // Among others, the first item without one is told of.
  Cache good;
  Token token(0);
  kvc_step steps[4] = {token.step(good, AllFloats, 0), {}, {}, {}};
  fails(kvc.decode(steps, 4), "item 1: cache is null");
  CHECK_EQ(steps[0].status, KVC_OK);
  CHECK_EQ(steps[3].status, KVC_INVALID_ARGUMENT);
  CHECK_EQ(good.error(), "");
}

void saysWhatIsWrong() {
  const kvc_library_table &kvc = library();
  kvc_info info = {};
  fails(kvc.info(nullptr), "out is null");
  fails(kvc.info(&info), "size of the kvc_info is 0: set it to "
                         "sizeof(kvc_info)");
  info.size = sizeof(&info);
  fails(kvc.info(&info), "size of the kvc_info is 8: set it to "
                         "sizeof(kvc_info)");
  info.size = sizeof(info);
  CHECK_EQ(kvc.info(&info), KVC_OK);
  CHECK_EQ(threadError(), "");

  kvc_layer_info layer = {};
  fails(kvc.layer_info(0, nullptr), "out is null");
  fails(kvc.layer_info(0, &layer), "size of the kvc_layer_info is 0: set it to "
                                   "sizeof(kvc_layer_info)");
  layer.size = sizeof(layer);
  fails(kvc.layer_info(-1, &layer),
        "there is no layer -1: the model has 9 layers, from 0");
  CHECK_EQ(kvc.layer_info(0, &layer), KVC_OK);
  CHECK_EQ(threadError(), "");

  kvc_bytes plan;
  fails(kvc.plan(0, 1, nullptr), "out is null");
  fails(kvc.plan(9, 1, &plan),
        "there is no layer 9: the model has 9 layers, from 0");
  fails(kvc.plan(0, -1, &plan), "tokens is -1: 0 to 2^40 is taken");
  CHECK_EQ(kvc.plan(0, 1, &plan), KVC_OK);
  CHECK_EQ(threadError(), "");

  float out[mostHeads * valueDim], lse[mostHeads] = {};
  kvc_part parts[3] = {{out, lse}, {out, lse}, {out, nullptr}};
  fails(kvc.merge(9, parts, 2, 1, out, lse),
        "there is no layer 9: the model has 9 layers, from 0");
  fails(kvc.merge(0, parts, 2, -1, out, lse),
        "tokens is -1: 0 to 2^40 is taken");
  fails(kvc.merge(0, nullptr, 2, 1, out, lse), "parts is null");
  fails(kvc.merge(0, parts, SIZE_MAX, 1, out, lse),
        "count is more than any array has");
  fails(kvc.merge(0, parts, 2, 1, nullptr, lse), "out is null");
  fails(kvc.merge(0, parts, 3, 1, out, lse), "lse of part 2 is null");
  parts[0].out = nullptr;
  fails(kvc.merge(0, parts, 3, 1, out, lse), "out of part 0 is null");
  CHECK_EQ(kvc.merge(0, nullptr, 0, 1, out, lse), KVC_OK);
  CHECK_EQ(threadError(), "");
}

/// What create says goes to its options too, where these have room for it.
void saysWhyThereIsNoCache() {
  const kvc_library_table &kvc = library();
  kvc_cache *cache = nullptr;
  char text[256] = "";
  kvc_options options = goodOptions();
  options.error = text;
  options.error_size = sizeof(text);
  fails(kvc.create(nullptr, nullptr), "out is null");
  fails(kvc.create(&options, nullptr), "out is null");
  CHECK_EQ(std::string(text), "out is null");
  fails(kvc.create(nullptr, &cache),
        "layer 6 takes learned sinks, 4 of them, and learned_sinks has none "
        "for it");
  options.threads = -1;
  fails(kvc.create(&options, &cache), "threads is -1; it is 0 to 256");
  CHECK_EQ(std::string(text), "threads is -1; it is 0 to 256");
  options.threads = 0;
  CHECK_EQ(kvc.create(&options, &cache), KVC_OK);
  CHECK_EQ(threadError(), "");
  CHECK_EQ(std::string(text), "");
  // A size that is none says nothing of where `error` is.
  std::strcpy(text, "mine");
  for (uint32_t size : {0u, 8u, unsigned{sizeof(kvc_options)} - 8, 4097u}) {
    options.size = size;
    const std::string reason = "size of the kvc_options is " +
                               std::to_string(size) +
                               ": set it to sizeof(kvc_options)";
    kvc_cache *none = cache;
    fails(kvc.create(&options, &none), reason.c_str());
    CHECK(!none);
    CHECK_EQ(kvc.fork(cache, &options, &none), KVC_INVALID_ARGUMENT);
    CHECK_EQ(std::string(kvc.last_error(cache)), reason);
    CHECK_EQ(std::string(text), "mine");
  }
  kvc.destroy(cache);
}

/// Each thread hears of its own calls.
void keepsTextsApart() {
  library().reset(nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([i] {
      for (int round = 0; round < 2000; ++round) {
        kvc_bytes plan;
        if (round == 0)
          CHECK_EQ(threadError(), "");
        fails(library().plan(0, -1 - i, &plan),
              ("tokens is " + std::to_string(-1 - i) + ": 0 to 2^40 is taken")
                  .c_str());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK_EQ(threadError(), "cache is null");
}

/// A struct as a header of another version has it: bytes that nobody may touch
/// lie behind.
template <typename Answer> struct Answered {
  static constexpr size_t more = 64;
  alignas(8) unsigned char bytes[sizeof(Answer) + more];
  explicit Answered(uint32_t size) {
    std::memset(bytes, 0xa5, sizeof(bytes));
    std::memcpy(bytes, &size, sizeof(size));
  }
  Answer *get() { return reinterpret_cast<Answer *>(bytes); }
  /// Whether what is from `begin` on is as it was.
  bool isUntouched(size_t begin) const {
    for (size_t i = begin; i < sizeof(bytes); ++i)
      if (bytes[i] != 0xa5)
        return false;
    return true;
  }
};

template <typename Answer, typename Call>
void fillsAsMuchAsThereIs(size_t least, Call call) {
  uint32_t size;
  for (size_t given = 0; given < least; ++given) {
    Answered<Answer> answer(static_cast<uint32_t>(given));
    CHECK_EQ(call(answer.get()), KVC_INVALID_ARGUMENT);
    CHECK(answer.isUntouched(sizeof(size)));
  }
  for (size_t given = least; given <= sizeof(Answer) + 40; ++given) {
    Answered<Answer> answer(static_cast<uint32_t>(given));
    CHECK_EQ(call(answer.get()), KVC_OK);
    CHECK(answer.isUntouched(given < sizeof(Answer) ? given : sizeof(Answer)));
    CHECK(!answer.isUntouched(least - 1));
    std::memcpy(&size, answer.bytes, sizeof(size));
    CHECK_EQ(size, given); // it may serve again
  }
  for (uint32_t given : {4097u, 0xffffffffu}) {
    Answered<Answer> answer(given);
    CHECK_EQ(call(answer.get()), KVC_INVALID_ARGUMENT);
    CHECK(answer.isUntouched(sizeof(size)));
  }
}

void grows() {
  fillsAsMuchAsThereIs<kvc_info>(
      offsetof(kvc_info, kernels) + 4,
      [](kvc_info *out) { return library().info(out); });
  fillsAsMuchAsThereIs<kvc_layer_info>(
      offsetof(kvc_layer_info, learned_sinks) + 4,
      [](kvc_layer_info *out) { return library().layer_info(1, out); });
  Cache cache;
  fill(cache, AllFloats, 0, 5);
  fillsAsMuchAsThereIs<kvc_stats>(
      offsetof(kvc_stats, shared) + 8,
      [&](kvc_stats *out) { return library().stats(cache, AllFloats, out); });
  kvc_stats stats = {};
  CHECK_EQ(library().stats(cache, AllFloats, &stats), KVC_INVALID_ARGUMENT);
  CHECK_EQ(cache.error(),
           "size of the kvc_stats is 0: set it to sizeof(kvc_stats)");
  // What it has no kinds for yet is zero, in the plan too.
  stats = cache.stats(AllFloats);
  kvc_bytes plan;
  std::memset(&plan, 0xa5, sizeof(plan));
  CHECK_EQ(library().plan(AllFloats, 5, &plan), KVC_OK);
  for (size_t i = 0; i < std::size(plan.later); ++i) {
    CHECK_EQ(plan.later[i], 0);
    CHECK_EQ(stats.used.later[i], 0);
  }
}

} // namespace

int main() {
  int64_t before = liveBlocks;
  saysWhatIsNull();
  saysWhatIsWrong();
  saysWhyThereIsNoCache();
  keepsTextsApart();
  grows();
  CHECK_EQ(liveBlocks, before);
  return kvc::test::checkResult();
}
