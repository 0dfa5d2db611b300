//===- AllocatorTest.cpp - caches in the caller's memory --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that a cache holds comes from the caller, whose memory is as bad as it
// may be: never zero, aligned no better than asked for, and short at any time.
//
//===----------------------------------------------------------------------===//

#include "FencedMemory.h"
#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

using namespace kvc;
using namespace kvc::test;

namespace {

/// Options that the model is content with, and the memory.
kvc_options optionsOf(Memory &memory) {
  kvc_options options = goodOptions();
  memory.serve(options);
  return options;
}

constexpr int32_t owners[] = {AllFloats, StreamCoded, Narrow};

/// A whole sequence in the caller's memory is right, and all of it is there.
void holdsAllInTheCallersMemory() {
  Memory memory;
  const int64_t before = allocations;
  {
    kvc_status status;
    Cache cache(optionsOf(memory), status);
    CHECK_EQ(status, KVC_OK);
    for (int64_t t = 0; t < 60; ++t)
      for (int32_t layer : owners) {
        Token token(t);
        CHECK_EQ(decode(token.step(cache, layer, t)), KVC_OK);
        checkOutput(token, layer, t + 1, 0);
        checkRead(cache, layer, t + 1, 7);
        checkStats(cache, layer, t + 1);
      }
    CHECK(memory.given > 20);
    CHECK_EQ(memory.live(), static_cast<size_t>(memory.given));
  }
  CHECK_EQ(memory.live(), size_t{0});
  CHECK_EQ(allocations, before);
}

/// A create that meets a refusal gives everything back.
void createsWhole() {
  int64_t n = 0;
  for (;; ++n) {
    Memory memory;
    memory.refuseAfter = n;
    kvc_status status;
    Cache cache(optionsOf(memory), status);
    if (status == KVC_OK)
      break;
    CHECK_EQ(status, KVC_OUT_OF_MEMORY);
    CHECK_EQ(memory.live(), size_t{0});
  }
  CHECK(n > 5);
}

/// The n-th block of a sequence is refused, for each n: the step that meets it
/// changes nothing, and repeated it goes as if nothing had been.
void staysAsItWas() {
  for (int64_t n = 0;; ++n) {
    Memory memory;
    kvc_status status;
    Cache cache(optionsOf(memory), status);
    CHECK_EQ(status, KVC_OK);
    memory.refuseAfter = n;
    for (int64_t t = 0; t < 40; ++t)
      for (int32_t layer : owners) {
        Token token(t);
        status = decode(token.step(cache, layer, t));
        if (status != KVC_OK) {
          CHECK_EQ(status, KVC_OUT_OF_MEMORY);
          CHECK(cache.error().find("no memory for a page") !=
                std::string::npos);
          CHECK_EQ(cache.stats(layer).seen, t);
          checkRead(cache, layer, t, 7);
          CHECK_EQ(decode(token.step(cache, layer, t)), KVC_OK);
        }
        checkOutput(token, layer, t + 1, 0);
      }
    for (int32_t layer : owners) {
      checkStats(cache, layer, 40);
      checkRead(cache, layer, 40, 40);
    }
    if (!memory.refused) {
      CHECK(n > 10);
      return;
    }
  }
}

void takesBothOrNeither() {
  Memory memory;
  kvc_status status;
  kvc_options options = optionsOf(memory);
  options.release = nullptr;
  Cache first(options, status);
  CHECK_EQ(status, KVC_INVALID_ARGUMENT);
  options = optionsOf(memory);
  options.allocate = nullptr;
  Cache second(options, status);
  CHECK_EQ(status, KVC_INVALID_ARGUMENT);
  // No version's options end before the allocator: it is not left out.
  options = optionsOf(memory);
  options.size = offsetof(kvc_options, allocate);
  Cache third(options, status);
  CHECK_EQ(status, KVC_INVALID_ARGUMENT);
  CHECK_EQ(memory.given, 0);
}

} // namespace

int main() {
  holdsAllInTheCallersMemory();
  createsWhole();
  staysAsItWas();
  takesBothOrNeither();
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
