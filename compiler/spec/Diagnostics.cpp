//===- Diagnostics.cpp - errors that point into the spec --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Diagnostics.h"

#include "compiler/spec/Text.h"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <sstream>

using namespace kvc::spec;

/// Bytes of a source line that are shown; longer lines are cut around the
/// caret.
static constexpr std::size_t maxLine = 160;

void Diagnostics::addSource(std::string file, std::string_view text) {
  Source source{std::move(file), std::string(text), {0}};
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      source.lineStarts.push_back(i + 1);
  sources.push_back(std::move(source));
}

void Diagnostics::error(Location at, std::string message) {
  std::size_t source = sources.empty() ? 0 : sources.size() - 1;
  if (known.emplace(source, at.line, at.column, message).second)
    errors.push_back({source, at, std::move(message)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<std::size_t> order(errors.size());
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](std::size_t i) {
    const Diagnostic &error = errors[i];
    return std::tuple(error.source, error.at.line, error.at.column, i);
  };
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::vector<Diagnostic> result;
  result.reserve(order.size());
  for (std::size_t i : order)
    result.push_back(errors[i]);
  return result;
}

/// The shown part of a line and the byte in it that the caret stands under.
static std::pair<std::string_view, std::size_t> cut(std::string_view line,
                                                    std::size_t caret) {
  caret = std::min(caret, line.size());
  if (line.size() <= maxLine)
    return {line, caret};
  std::size_t first = caret > maxLine / 2 ? caret - maxLine / 2 : 0;
  while (first > 0 && (static_cast<unsigned char>(line[first]) & 0xC0) == 0x80)
    --first;
  return {line.substr(first, maxLine), caret - first};
}

void Diagnostics::printOne(std::ostream &os, const Diagnostic &error) const {
  if (error.source >= sources.size()) {
    os << "error: " << error.message << '\n';
    return;
  }
  const Source &source = sources[error.source];
  os << source.file << ':';
  if (error.at.line == 0) {
    os << " error: " << error.message << '\n';
    return;
  }
  os << error.at.line << ':' << error.at.column << ": error: " << error.message
     << '\n';
  if (error.at.line > source.lineStarts.size())
    return;
  std::string_view line = source.text;
  line.remove_prefix(source.lineStarts[error.at.line - 1]);
  line = line.substr(0, line.find('\n'));
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  auto [shown, caret] = cut(line, error.at.column ? error.at.column - 1 : 0);
  os << printable(shown) << '\n';
  // A tab stays a tab, so that the caret stands right whatever its width.
  std::string lead = printable(shown.substr(0, caret));
  for (char c : lead)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      os << (c == '\t' ? '\t' : ' ');
  os << "^\n";
}

std::string Diagnostics::fileOf(const Diagnostic &error) const {
  return error.source < sources.size() ? sources[error.source].file : "";
}

void Diagnostics::print(std::ostream &os) const {
  std::size_t shown = 0;
  for (const Diagnostic &error : sorted()) {
    if (shown++ == maxShown) {
      os << errors.size() - maxShown << " more errors are not shown\n";
      return;
    }
    printOne(os, error);
  }
}

std::string Diagnostics::str() const {
  std::ostringstream os;
  print(os);
  return os.str();
}
