//===- Diagnostics.h - errors that point into the spec ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects every error of a file, so that one run shows them all, and renders
// them as clang does: `file:line:col: error: message`, the line, a caret.
// Nothing here prints by itself; the caller decides where the text goes.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_DIAGNOSTICS_H
#define KVC_COMPILER_SPEC_DIAGNOSTICS_H

#include "compiler/spec/Spec.h"

#include <cstddef>
#include <iosfwd>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kvc::spec {

/// Errors shown of one run: a hostile file could otherwise make gigabytes.
inline constexpr std::size_t maxShown = 1000;

/// One error. Line 0 means the file as a whole.
struct Diagnostic {
  std::size_t source = 0; ///< index of the file, in the order of addSource
  Location at;
  std::string message;
};

class Diagnostics {
public:
  /// Names the file that the following errors are about, and keeps its text
  /// for the lines that are shown.
  void addSource(std::string file, std::string_view text);

  /// Adds an error; the same error at the same place is kept once, however
  /// many layers meet it.
  void error(Location at, std::string message);

  bool empty() const { return errors.empty(); }
  std::size_t count() const { return errors.size(); }

  /// The errors by file, line and column; at one place in the order of adding.
  std::vector<Diagnostic> sorted() const;

  /// The file that an error is in; empty where no source was added.
  std::string fileOf(const Diagnostic &error) const;

  void print(std::ostream &os) const;
  std::string str() const;

private:
  struct Source {
    std::string file, text;
    std::vector<std::size_t> lineStarts;
  };
  void printOne(std::ostream &os, const Diagnostic &error) const;

  std::vector<Source> sources;
  std::vector<Diagnostic> errors;
  std::set<std::tuple<std::size_t, unsigned, unsigned, std::string>> known;
};

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_DIAGNOSTICS_H
