//===- Text.cpp - error texts without printf --------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for any CPU of the architecture: it says what a CPU lacks.
//
//===----------------------------------------------------------------------===//

#include "runtime/Text.h"

namespace kvc::runtime {

Text::Text(char *buffer, int64_t capacity)
    : buffer(buffer), capacity(capacity) {
  if (capacity > 0)
    buffer[0] = '\0';
}

void Text::put(char character) {
  if (length + 1 >= capacity)
    return;
  buffer[length++] = character;
  buffer[length] = '\0';
}

Text &Text::operator<<(const char *words) {
  for (; *words; ++words)
    put(*words);
  return *this;
}

void Text::putDigits(uint64_t number) {
  char digits[20];
  int64_t count = 0;
  do
    digits[count++] = static_cast<char>('0' + number % 10);
  while (number /= 10);
  while (count)
    put(digits[--count]);
}

Text &Text::operator<<(int32_t number) { return *this << int64_t{number}; }

Text &Text::operator<<(int64_t number) {
  uint64_t magnitude = static_cast<uint64_t>(number);
  if (number < 0) {
    put('-');
    magnitude = -magnitude;
  }
  putDigits(magnitude);
  return *this;
}

Text &Text::operator<<(double number) {
  if (number != number)
    return *this << "NaN";
  if (number < 0) {
    put('-');
    number = -number;
  }
  if (number > 1.7976931348623157e308)
    return *this << "infinity";
  if (number == 0)
    return *this << "0";

  int64_t exponent = 0;
  for (; number >= 10; number /= 10)
    ++exponent;
  for (; number < 1; number *= 10)
    --exponent;
  // Digits d.ddddd as one integer; rounding may carry into a seventh digit.
  uint64_t digits = static_cast<uint64_t>(number * 100000 + 0.5);
  if (digits >= 1000000) {
    digits /= 10;
    ++exponent;
  }
  uint64_t fraction = digits % 100000;
  putDigits(digits / 100000);
  if (fraction) {
    put('.');
    for (uint64_t place = 10000; fraction; place /= 10) {
      putDigits(fraction / place);
      fraction %= place;
    }
  }
  *this << (exponent < 0 ? "e-" : "e+");
  putDigits(static_cast<uint64_t>(exponent < 0 ? -exponent : exponent));
  return *this;
}

} // namespace kvc::runtime
