//===- Check.h - the least that a unit test needs ---------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CHECK and CHECK_EQ say where they fail and go on; main returns
// checkResult().
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_CHECK_H
#define KVC_TEST_UNIT_CHECK_H

#include <atomic>
#include <cstdint>
#include <iostream>

namespace kvc::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KVC_TEST_SLOW
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
    !defined(NDEBUG)
#define KVC_TEST_SLOW
#endif

/// What a bound of time is multiplied by: for sanitizers and debug builds.
#ifdef KVC_TEST_SLOW
inline constexpr double slowness = 20;
#else
inline constexpr double slowness = 1;
#endif

inline std::atomic<int64_t> checks = 0;
inline std::atomic<int64_t> failures = 0;

inline bool check(bool good, const char *file, int line, const char *what) {
  ++checks;
  if (!good && ++failures <= 20)
    std::cerr << file << ":" << line << ": " << what << "\n";
  return good;
}

template <typename Left, typename Right>
bool checkEqual(const Left &left, const Right &right, const char *file,
                int line, const char *what) {
  bool good = check(left == right, file, line, what);
  if (!good && failures <= 20)
    std::cerr << "  left: " << left << "\n  right: " << right << "\n";
  return good;
}

/// The exit status: 0 where all checks held.
inline int checkResult() {
  std::cout << checks << " checks, " << failures << " failures\n";
  return failures ? 1 : 0;
}

} // namespace kvc::test

#define CHECK(...)                                                             \
  ::kvc::test::check(static_cast<bool>(__VA_ARGS__), __FILE__, __LINE__,       \
                     #__VA_ARGS__)
#define CHECK_EQ(left, right)                                                  \
  ::kvc::test::checkEqual(left, right, __FILE__, __LINE__, #left " == " #right)

#endif // KVC_TEST_UNIT_CHECK_H
