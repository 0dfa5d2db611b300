//===- Fuzzer.h - what fuzzers have in common -------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_FUZZ_FUZZER_H
#define KVC_TEST_FUZZ_FUZZER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// What libFuzzer calls with one input after the other.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// LLVM's allocators poison memory where kvc inlines them, and libLLVM, which
/// has no sanitizer, would hand it out again without telling.
extern "C" inline const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

namespace kvc::test {

/// Ends the run where something is not as it should be; libFuzzer then keeps
/// the input.
inline void require(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "error: %s\n", what);
  std::abort();
}

} // namespace kvc::test

#endif // KVC_TEST_FUZZ_FUZZER_H
