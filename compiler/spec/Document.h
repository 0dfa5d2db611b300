//===- Document.h - untrusted YAML text as a plain tree ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tree that the rest of this room reads. Only Document.cpp knows yaml-cpp;
// what a spec has no use for (anchors, aliases, tags, a second document, deep
// nesting) is refused there, so a hostile file can neither recurse nor grow.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_DOCUMENT_H
#define KVC_COMPILER_SPEC_DOCUMENT_H

#include "compiler/spec/Diagnostics.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::spec {

/// Largest file, and deepest nesting, that is read at all.
inline constexpr std::size_t maxFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t maxDepth = 32;

struct Node {
  enum class Kind { Null, Scalar, List, Map };
  Kind kind = Kind::Null;
  Location at;
  std::string text;    ///< of a scalar
  bool quoted = false; ///< a scalar that is a string whatever it looks like
  /// A list's items; a map's keys and values in turn.
  std::vector<Node> items;
};

/// The only document of `text`, or errors in `diags`.
std::optional<Node> readDocument(std::string_view text, Diagnostics &diags);

/// A node as a message shows it: its text, "a map", "a list", "empty".
std::string shown(const Node &node);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_DOCUMENT_H
