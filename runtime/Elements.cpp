//===- Elements.cpp - the element types of the interface --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A float without its sign is ordered as its bits are, so that one comparison
// of integers refuses NaN, infinity and what is too large.
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"

#include "kvc/kvc.h"

namespace kvc::runtime {

namespace {

// The caller's arrays hold floats and halves; these may look at their bits.
using Bits32 = uint32_t __attribute__((may_alias));
using Bits16 = uint16_t __attribute__((may_alias));

/// `largest`: the bits of the largest magnitude that is allowed. The first
/// pass has no exit, so that it runs on vectors.
template <typename Bits>
int64_t firstAbove(const void *elements, int64_t count, Bits largest) {
  constexpr Bits magnitude = static_cast<Bits>(static_cast<Bits>(~Bits(0)) / 2);
  const Bits *bits = static_cast<const Bits *>(elements);
  Bits worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits here = bits[i] & magnitude;
    worst = here > worst ? here : worst;
  }
  if (worst <= largest)
    return -1;
  int64_t index = 0;
  while ((bits[index] & magnitude) <= largest)
    ++index;
  return index;
}

float floatOfBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

float floatOfHalf(uint16_t half) {
  uint32_t sign = (half & 0x8000u) << 16;
  uint32_t magnitude = (half & 0x7fffu) << 13;
  if (magnitude >= 0x7c00u << 13) // infinity or NaN: the same, wider
    return floatOfBits(sign | magnitude | 0x7f800000u);
  // f16's exponent is biased by 15, f32's by 127; exact, subnormals too.
  float value = floatOfBits(magnitude) * 0x1p112f;
  return sign ? -value : value;
}

} // namespace

int64_t firstRefused(int64_t io, const void *elements, int64_t count) {
  switch (io) {
  case KVC_F16: // its largest finite value is below 2^56
    return firstAbove<Bits16>(elements, count, 0x7bff);
  case KVC_BF16:
    return firstAbove<Bits16>(elements, count, 0x5b80);
  default:
    return firstAbove<Bits32>(elements, count, 0x5b800000);
  }
}

double elementValue(int64_t io, const void *elements, int64_t index) {
  switch (io) {
  case KVC_F16:
    return floatOfHalf(static_cast<const Bits16 *>(elements)[index]);
  case KVC_BF16:
    return floatOfBits(uint32_t{static_cast<const Bits16 *>(elements)[index]}
                       << 16);
  default:
    return floatOfBits(static_cast<const Bits32 *>(elements)[index]);
  }
}

} // namespace kvc::runtime
