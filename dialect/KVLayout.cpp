//===- KVLayout.cpp - where in a page a number lies -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVLayout.h"
#include "llvm/Support/MathExtras.h"

namespace kvc::kv {

/// Words of a cache line. Records and pairs begin at lines, and take whole
/// vectors, which may be wider.
static constexpr int64_t LineWords = 16;

PageLayout::PageLayout(StreamAttr stream)
    : stream(stream), layout(stream.getLayout()),
      block(stream.getEncoding().getBlock(layout.getChannels())),
      codesPerWord(32 / stream.getEncoding().getElementBits()) {
  if (block && block->spansAllTokens())
    block->tokens = layout.getTokens();
  const int64_t unit = tokensOnLanes() ? codesPerWord : lanes() * vectors();
  blockColumns = llvm::alignTo(layout.getBlock(), unit);
  columns = channelBlocks() * blockColumns;
  if (tokensOnLanes()) {
    words = columns / codesPerWord;
    vectorCount = layout.getTokens() / lanes();
  } else {
    words = llvm::divideCeil(layout.getTokens(), codesPerWord);
    vectorCount = columns / lanes();
  }

  const int64_t line = std::max(LineWords, lanes());
  pairPlane = 0;
  if (block)
    pairPlane = llvm::alignTo(
        llvm::divideCeil(layout.getTokens(), block->tokens) * pairChannels(),
        line);
  pairWords = pairPlane * (block ? stream.getEncoding().getPairWords() : 0);
  recordWords = llvm::alignTo(pairWords + vectorCount * words * lanes(), line);
  pageWords = recordWords * layout.getHeads();
}

llvm::StringRef scalesOf(StreamAttr stream) {
  const LayoutAttr layout = stream.getLayout();
  const auto block = stream.getEncoding().getBlock(layout.getChannels());
  if (!block)
    return "none";
  // A run lies in one block of tokens, so a block of several tokens does not
  // vary along tokens.
  const bool alongTokens = block->tokens == 1;
  if (stream.getPlane() == Plane::Keys)
    return alongTokens ? "result" : "operand";
  return alongTokens ? "operand" : "result";
}

Integers::Integers(StreamAttr stream, mlir::Type element)
    : parts(32 / element.getIntOrFloatBitWidth()),
      codes(32 / stream.getEncoding().getElementBits()),
      top((int64_t(1) << stream.getEncoding().getElementBits()) - 1),
      most((int64_t(1) << (element.getIntOrFloatBitWidth() - 1)) - 1) {
  // See kv.fold.
  if (parts == 2 && stream.getPlane() == Plane::Values &&
      scalesOf(stream) == "result")
    rows = 2;
}

std::optional<Integers> Integers::of(StreamAttr stream, mlir::Type element,
                                     int64_t run) {
  // Products of two bytes are added up in pairs of i16 on some targets, so
  // that codes of 8 bits want i16.
  if (!element || scalesOf(stream) == "none" ||
      !stream.getEncoding().codesAreNumbers() ||
      2 * stream.getEncoding().getElementBits() >
          element.getIntOrFloatBitWidth())
    return std::nullopt;
  Integers integers(stream, element);
  if (stream.getPlane() == Plane::Values &&
      run > integers.mostWords() * integers.codes)
    return std::nullopt;
  return integers;
}

int64_t channelBlockOf(PrecisionAttrInterface precision, Plane plane,
                       int64_t dim) {
  const auto block = precision.getBlock(dim);
  if (!block)
    return dim;
  // Keys: words must not mix blocks that have scales of their own in the
  // result. Values: a vector's lanes share one weight, or have one scale each.
  if (plane == Plane::Keys)
    return block->tokens == 1 ? block->channels : dim;
  return block->channels == 1 && block->tokens > 1 ? dim : block->channels;
}

} // namespace kvc::kv
