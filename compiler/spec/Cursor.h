//===- Cursor.h - what of a spec is at a place of its text ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an editor asks of a text while it is written: whether it is meant as a
// spec, which key stands at a place, what may be written there. The key table
// answers. Places are bytes of the text; any bytes may be given, and nothing is
// thrown.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_CURSOR_H
#define KVC_COMPILER_SPEC_CURSOR_H

#include "compiler/spec/Keys.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace kvc::spec {

/// Whether the text has `kvc` as a key of its outermost map, written right or
/// with a slip in its colon. Another YAML file has not.
bool isMeantAsSpec(std::string_view text);

/// Bytes [begin, end) of a text.
struct Extent {
  std::size_t begin = 0, end = 0;
};

/// The token that begins at a byte: a word or words up to a mark of YAML, a
/// string with its quotes, or one character. Empty at a line's end.
Extent tokenAt(std::string_view text, std::size_t begin);

struct WrittenKey {
  const Key *key = nullptr;
  Extent name;
};

/// The key whose name holds the byte `at`; none where the text is no YAML.
std::optional<WrittenKey> writtenKeyAt(std::string_view text, std::size_t at);

/// What the word that the byte `at` is in, or behind, may become.
struct Choices {
  Extent word;                    ///< what a choice replaces
  std::vector<const Key *> names; ///< keys that the map here does not have yet
  const Key *valueOf = nullptr;   ///< a value of this key, or null
  bool inItem = false;            ///< the value is an item of a list
  bool inLine = false;            ///< the value stands in its key's line
  bool hasColon = false;          ///< the key's colon is written already
};

/// None in comments, and where the text so far is no YAML.
std::optional<Choices> choicesAt(std::string_view text, std::size_t at);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_CURSOR_H
