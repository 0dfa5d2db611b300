//===- Check.h - what a unit test needs -------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_CHECK_H
#define KVC_TEST_UNIT_CHECK_H

#include <cstdio>

namespace kvc::test {

inline int failures = 0;

inline bool check(bool right, const char *what, const char *file, int line) {
  if (!right) {
    std::printf("%s:%d: failed: %s\n", file, line, what);
    ++failures;
  }
  return right;
}

/// The exit code of a test's main.
inline int result() {
  if (failures)
    std::printf("%d failed\n", failures);
  else
    std::printf("passed\n");
  return failures ? 1 : 0;
}

} // namespace kvc::test

#define CHECK(condition)                                                       \
  kvc::test::check(bool(condition), #condition, __FILE__, __LINE__)

#endif // KVC_TEST_UNIT_CHECK_H
