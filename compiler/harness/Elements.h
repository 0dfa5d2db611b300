//===- Elements.h - element types of tensors and interfaces -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_ELEMENTS_H
#define KVC_COMPILER_HARNESS_ELEMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kvc::harness {

enum class Element { F32, F16, BF16, I64 };

/// As safetensors spells it: "F32", "F16", "BF16", "I64".
std::optional<Element> parseElement(llvm::StringRef name);
llvm::StringRef elementName(Element element);
int64_t elementBytes(Element element);

/// The float that `count` little-endian elements at `bytes` hold; not of I64.
std::vector<float> widen(Element element, const uint8_t *bytes, int64_t count);
/// `values` in `element`, each rounded once, to nearest even.
std::vector<uint8_t> narrow(Element element, llvm::ArrayRef<float> values);
/// Each value as `element` holds it.
void roundTo(Element element, llvm::MutableArrayRef<float> values);
/// The largest finite value of `element`.
double largestFinite(Element element);
/// Half a unit in the last place of `value` in `element`.
double halfUlp(Element element, double value);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_ELEMENTS_H
