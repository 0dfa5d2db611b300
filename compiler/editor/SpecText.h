//===- SpecText.h - a spec's text, in an editor's places --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Editors count lines from 0, and in them units of UTF-16; the parser counts
// lines from 1, and in them bytes from 1. Between both lie bytes of the text.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EDITOR_SPECTEXT_H
#define KVC_COMPILER_EDITOR_SPECTEXT_H

#include "compiler/spec/Cursor.h"
#include "compiler/spec/Spec.h"
#include "llvm/Support/LSP/Protocol.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::editor {

class SpecText {
public:
  /// `text` is UTF-8, as JSON's strings are.
  explicit SpecText(std::string text);

  /// Without a byte order mark; bytes below count in this.
  std::string_view view() const;

  /// Places behind a line's end, or the text's, are at that end.
  std::size_t byteOf(const llvm::lsp::Position &position) const;
  std::size_t byteOf(const spec::Location &location) const;

  /// Soon where the byte is not far behind the last one that was asked for.
  llvm::lsp::Position positionOf(std::size_t byte) const;
  llvm::lsp::Range rangeOf(const spec::Extent &extent) const {
    return {positionOf(extent.begin), positionOf(extent.end)};
  }

private:
  std::string text;
  std::size_t mark = 0; ///< bytes of the byte order mark
  /// Where lines begin, in bytes: an editor's, which \r alone may end too, and
  /// the parser's.
  std::vector<std::size_t> editorLines{0}, parserLines{0};

  struct Known {
    std::size_t line, byte;
    int units;
  };
  mutable Known known{0, 0, 0}; ///< the last position
};

} // namespace kvc::editor

#endif // KVC_COMPILER_EDITOR_SPECTEXT_H
