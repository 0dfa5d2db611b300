//===- Text.h - error texts without printf ----------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a text in a buffer of fixed size. What does not fit is cut off; the
// text always ends with a NUL.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_TEXT_H
#define KVC_RUNTIME_TEXT_H

#include <stdint.h>

namespace kvc::runtime {

class Text {
public:
  /// A text in `buffer`, which holds `capacity` bytes; empty at first. Where
  /// that is 0 nobody hears it.
  Text(char *buffer, int64_t capacity);

  Text &operator<<(const char *words);
  Text &operator<<(int32_t number);
  Text &operator<<(int64_t number);
  /// NaN, infinity, -infinity, 0, or six significant digits: -1.25e+17.
  Text &operator<<(double number);

private:
  void put(char character);
  void putDigits(uint64_t number);

  char *buffer;
  int64_t capacity;
  int64_t length = 0;
};

} // namespace kvc::runtime

#endif // KVC_RUNTIME_TEXT_H
