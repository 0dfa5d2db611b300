//===- Values.h - scalars of a spec, and what is wrong with one -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_VALUES_H
#define KVC_COMPILER_SPEC_VALUES_H

#include "compiler/spec/Setting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvc::spec {

/// The forms that are strings: what may be quoted, and is in JSON.
inline constexpr unsigned strings = form::Word | form::Identifier | form::Range;

/// A decimal whole number; digits that no int64 holds are clamped, as every
/// range ends far below.
std::optional<int64_t> parseInteger(std::string_view text);

/// A finite decimal number without a sign; nothing where it is none, or too
/// small for a double.
std::optional<double> parseNumber(std::string_view text);

/// Reads a setting's text as one of `forms`; false where it is none of them.
bool readScalar(Setting &setting, unsigned forms);

/// What is wrong with a value that is none of `forms`, and what would be right.
std::string refusal(const Setting &setting, const Node &value, unsigned forms);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_VALUES_H
