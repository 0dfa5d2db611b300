//===- Elements.cpp - element types of tensors and interfaces -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Elements.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>

using namespace llvm;

namespace kvc::harness {

std::optional<Element> parseElement(StringRef name) {
  return StringSwitch<std::optional<Element>>(name)
      .Case("F32", Element::F32)
      .Case("F16", Element::F16)
      .Case("BF16", Element::BF16)
      .Case("I64", Element::I64)
      .Default(std::nullopt);
}

StringRef elementName(Element element) {
  switch (element) {
  case Element::F32:
    return "F32";
  case Element::F16:
    return "F16";
  case Element::BF16:
    return "BF16";
  case Element::I64:
    return "I64";
  }
  llvm_unreachable("no such element");
}

int64_t elementBytes(Element element) {
  return element == Element::I64 ? 8 : element == Element::F32 ? 4 : 2;
}

/// A float of `fraction` fraction bits and an exponent from `least` on.
struct Format {
  int fraction, least, most;
};

static Format formatOf(Element element) {
  switch (element) {
  case Element::F16:
    return {10, -14, 15};
  case Element::BF16:
    return {7, -126, 127};
  default:
    return {23, -126, 127};
  }
}

static float widenF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

/// f16 bits, rounded to nearest even; too large is infinite, as IEEE has it.
static uint16_t narrowF16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520)
    return sign | 0x7c00;
  int exponent = magnitude > 0 ? std::ilogb(magnitude) : -14;
  exponent = std::max(exponent, -14);
  // In units of the last place; a carry runs into the exponent by itself.
  const auto units =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return sign | static_cast<uint16_t>(((exponent + 14) << 10) + units);
}

static uint16_t narrowBF16(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

std::vector<float> widen(Element element, const uint8_t *bytes, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    if (element == Element::F32)
      values[i] = bit_cast<float>(support::endian::read32le(bytes + 4 * i));
    else if (element == Element::F16)
      values[i] = widenF16(support::endian::read16le(bytes + 2 * i));
    else
      values[i] = bit_cast<float>(
          static_cast<uint32_t>(support::endian::read16le(bytes + 2 * i))
          << 16);
  }
  return values;
}

std::vector<uint8_t> narrow(Element element, ArrayRef<float> values) {
  std::vector<uint8_t> bytes(values.size() * elementBytes(element));
  uint8_t *at = bytes.data();
  for (float value : values) {
    if (element == Element::F32)
      support::endian::write32le(at, bit_cast<uint32_t>(value));
    else
      support::endian::write16le(
          at, element == Element::F16 ? narrowF16(value) : narrowBF16(value));
    at += elementBytes(element);
  }
  return bytes;
}

void roundTo(Element element, MutableArrayRef<float> values) {
  for (float &value : values) {
    if (element == Element::F16)
      value = widenF16(narrowF16(value));
    else if (element == Element::BF16)
      value = bit_cast<float>(static_cast<uint32_t>(narrowBF16(value)) << 16);
  }
}

double largestFinite(Element element) {
  const Format format = formatOf(element);
  return std::ldexp(2 - std::ldexp(1.0, -format.fraction), format.most);
}

double halfUlp(Element element, double value) {
  const Format format = formatOf(element);
  int exponent = value == 0 ? format.least : std::ilogb(value);
  exponent = std::min(std::max(exponent, format.least), format.most);
  return std::ldexp(0.5, exponent - format.fraction);
}

} // namespace kvc::harness
