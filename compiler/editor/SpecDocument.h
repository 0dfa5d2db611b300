//===- SpecDocument.h - what an editor shows of a spec ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A document that is meant as another YAML file has no diagnostics, no hover
// and no completions. Any text may be given.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EDITOR_SPECDOCUMENT_H
#define KVC_COMPILER_EDITOR_SPECDOCUMENT_H

#include "compiler/editor/SpecText.h"

#include <optional>
#include <string>
#include <vector>

namespace kvc::editor {

class SpecDocument {
public:
  explicit SpecDocument(std::string text);

  /// What kvc check says, each with the token that it is about.
  std::vector<llvm::lsp::Diagnostic> diagnostics() const;

  /// What a key means, where its name is at `position`.
  std::optional<llvm::lsp::Hover>
  hover(const llvm::lsp::Position &position) const;

  /// Keys and words that may be written at `position`.
  llvm::lsp::CompletionList
  completions(const llvm::lsp::Position &position) const;

private:
  SpecText text;
  bool isSpec;
};

} // namespace kvc::editor

#endif // KVC_COMPILER_EDITOR_SPECDOCUMENT_H
