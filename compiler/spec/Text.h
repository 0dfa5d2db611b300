//===- Text.h - untrusted text, shown and measured --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers on strings that come from a user's file: validity, a harmless form
// for messages, likeness of names, numbers as text.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_TEXT_H
#define KVC_COMPILER_SPEC_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::spec {

/// Length of the valid UTF-8 character at `at`, 0 where there is none.
std::size_t utf8Length(std::string_view text, std::size_t at);

/// `text` with everything a terminal could act on replaced by `?`, a byte for
/// a byte; tabs stay.
std::string printable(std::string_view text);

/// A value for use in a message: printable, and cut where it is long.
std::string brief(std::string_view text);

/// The words of a space-separated list.
std::vector<std::string_view> split(std::string_view words);

/// Whether a space-separated list holds `word`.
bool contains(std::string_view words, std::string_view word);

/// "a, b or c" (with `last` in the place of "or").
std::string join(const std::vector<std::string> &items,
                 std::string_view last = "or");

/// The same of a space-separated list.
std::string joinWords(std::string_view words, std::string_view last = "or");

/// The name among `names` that `word` is most likely a slip of; empty where
/// none is near.
std::string_view nearest(std::string_view word,
                         const std::vector<std::string_view> &names);

/// The shortest decimal text that reads back as exactly this number.
std::string numberText(double value);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_TEXT_H
