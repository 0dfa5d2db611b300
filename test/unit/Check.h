//===- Check.h - the little that a unit test needs --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit test is a main: it prints what failed and exits with 1 if anything
// did.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_CHECK_H
#define KVC_TEST_UNIT_CHECK_H

#include <cstdio>

inline int failures = 0;

inline bool check(bool right, const char *what, const char *file, int line) {
  if (!right) {
    std::printf("%s:%d: failed: %s\n", file, line, what);
    ++failures;
  }
  return right;
}

#define CHECK(condition) check(bool(condition), #condition, __FILE__, __LINE__)

#endif // KVC_TEST_UNIT_CHECK_H
