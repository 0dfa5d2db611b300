//===- StoredForm.cpp - what a snapshot depends on ------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/emit/StoredForm.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kvc {

/// One layer's, without its number.
static std::string storedForm(kv::LayerOp layer, kv::StepOp step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kv::ShapeAttr shape = step.getShape();
  kv::PolicyAttr policy = layer.getPolicy();
  stream << shape.getKvHeads() << " heads of " << shape.getHeadDim() << " and "
         << shape.getValueDim() << "; " << policy.getTime().getStoredForm();
  if (Attribute rotation = policy.getPosition().getStoredForm())
    stream << "; " << rotation;
  for (kv::StreamAttr one : step.getStreamList())
    stream << "; " << one.getPlaneName() << " " << one.getKind() << " "
           << one.getEncoding();
  return text;
}

std::string storedForm(kv::ModelOp model) {
  struct Line {
    int64_t first, last;
    std::string text;
  };
  SmallVector<Line> lines;
  int64_t owner = 0;
  for (kv::LayerOp layer : model.getLayers()) {
    if (!layer.getPolicy().getDepth().stores())
      continue;
    auto step = SymbolTable::lookupNearestSymbolFrom<kv::StepOp>(
        model->getParentOp(),
        StringAttr::get(model.getContext(), *layer.getStep()));
    std::string text = storedForm(layer, step);
    if (!lines.empty() && lines.back().text == text)
      lines.back().last = owner;
    else
      lines.push_back({owner, owner, std::move(text)});
    ++owner;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Line &line : lines) {
    stream << line.first;
    if (line.last > line.first)
      stream << ".." << line.last;
    stream << ": " << line.text << "\n";
  }
  return text;
}

} // namespace kvc
