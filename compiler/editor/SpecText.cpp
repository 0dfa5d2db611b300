//===- SpecText.cpp - a spec's text, in an editor's places ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/editor/SpecText.h"

#include <algorithm>

using namespace kvc::editor;

/// UTF-16 has two units for what UTF-8 has four bytes for, else one.
static int unitsOf(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0xF0 ? 2 : (byte & 0xC0) != 0x80;
}

SpecText::SpecText(std::string given) : text(std::move(given)) {
  if (view().starts_with("\xEF\xBB\xBF")) {
    mark = 3;
    known.units = 1;
  }
  const std::string_view all = view();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == '\n')
      parserLines.push_back(i + 1);
    if (all[i] == '\n' ||
        (all[i] == '\r' && (i + 1 == all.size() || all[i + 1] != '\n')))
      editorLines.push_back(i + 1);
  }
}

std::string_view SpecText::view() const {
  return std::string_view(text).substr(mark);
}

std::size_t SpecText::byteOf(const llvm::lsp::Position &position) const {
  if (position.line < 0)
    return 0;
  const auto line = static_cast<std::size_t>(position.line);
  if (line >= editorLines.size())
    return view().size();
  const std::string_view all = view();
  std::size_t byte = editorLines[line];
  // The byte order mark is a unit of the first line.
  int64_t units = line == 0 && mark ? 1 : 0;
  while (byte < all.size() && all[byte] != '\n' && all[byte] != '\r' &&
         units < position.character)
    units += unitsOf(all[byte++]);
  // Not within a character.
  while (byte < all.size() && unitsOf(all[byte]) == 0)
    ++byte;
  return byte;
}

std::size_t SpecText::byteOf(const spec::Location &location) const {
  if (location.line == 0)
    return 0;
  if (location.line > parserLines.size())
    return view().size();
  const std::size_t begin = parserLines[location.line - 1];
  std::size_t end = std::min(view().find('\n', begin), view().size());
  if (end > begin && view()[end - 1] == '\r')
    --end;
  return std::min(begin + std::max(location.column, 1U) - 1, end);
}

llvm::lsp::Position SpecText::positionOf(std::size_t byte) const {
  const auto next = std::ranges::upper_bound(editorLines, byte);
  const std::size_t line =
      static_cast<std::size_t>(next - editorLines.begin()) - 1;
  // Errors come by place, and a hostile text has them all in one line.
  if (known.line != line || known.byte > byte)
    known = {line, editorLines[line], line == 0 && mark ? 1 : 0};
  for (; known.byte < byte; ++known.byte)
    known.units += unitsOf(view()[known.byte]);
  return {static_cast<int>(line), known.units};
}
