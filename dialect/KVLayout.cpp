//===- KVLayout.cpp - where in a page a number lies -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVLayout.h"
#include "llvm/Support/MathExtras.h"

namespace kvc::kv {

/// Records and pairs begin at cache lines.
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

  pairPlane = 0;
  if (block)
    pairPlane = llvm::alignTo(
        llvm::divideCeil(layout.getTokens(), block->tokens) * pairChannels(),
        LineWords);
  pairWords = pairPlane * (block ? stream.getEncoding().getPairWords() : 0);
  recordWords =
      llvm::alignTo(pairWords + vectorCount * words * lanes(), LineWords);
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
