//===- KVLayout.h - where in a page a number lies ---------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVLAYOUT_H
#define KVC_DIALECT_KVLAYOUT_H

#include "dialect/KVAttributes.h"

namespace kvc::kv {

/// Streams of a step at most: page tables of a view.
inline constexpr int64_t maxStreams = 8;

/// Offsets that follow from a stream's encoding and layout, in 32-bit words
/// from the begin of a head's record. `#kv.layout` tells the order; this is
/// the only code that turns it into numbers.
///
/// A record is the pairs, then the codes:
///   pairs [pairRows][pairColumns], each getPairWords() planes of one word;
///   codes [vectorCount / vectors][words][vectors][lanes];
///   where slotsApart(), [2][lanes / 2] words of halves for [lanes].
struct PageLayout {
  explicit PageLayout(StreamAttr stream);

  StreamAttr stream;
  LayoutAttr layout;
  /// Of scales. Where one has all tokens, each page has pairs of its own, all
  /// alike.
  std::optional<ScaleBlock> block;
  int64_t codesPerWord;

  /// Channels in storage order, padding included: columns of an operand that
  /// is contracted over channels, or lanes of one that is not.
  int64_t blockColumns; ///< columns of a block of channels, padded
  int64_t columns;      ///< of all blocks

  int64_t words;       ///< words of a vector of lanes, one after another
  int64_t vectorCount; ///< vectors of lanes

  int64_t pairWords; ///< words of the pairs, padding included; 0: none
  int64_t pairPlane; ///< words between a pair's first and second word
  int64_t recordWords;
  int64_t pageWords;

  bool tokensOnLanes() const { return layout.tokensOnLanes(); }
  int64_t lanes() const { return layout.getLanes(); }
  int64_t vectors() const { return layout.getVectors(); }
  /// Whether the two slots of a vector's words lie apart, [2][lanes] halves of
  /// words: see #kv.layout.
  bool slotsApart() const { return codesPerWord == 2 && lanes() > 1; }
  int64_t channelBlocks() const {
    return llvm::divideCeil(layout.getChannels(), layout.getBlock());
  }
  /// Blocks of scales along channels.
  int64_t pairChannels() const {
    return block ? llvm::divideCeil(layout.getChannels(), block->channels) : 0;
  }
  /// Whether the pairs of one block of channels lie one token after another.
  bool pairsAlongTokens() const { return block && block->tokens == 1; }
  /// Channels of a block of the layout, the last one's fewer.
  int64_t channelsOf(int64_t channelBlock) const {
    return std::min(layout.getBlock(),
                    layout.getChannels() - channelBlock * layout.getBlock());
  }
  /// Where a channel lies among the columns.
  int64_t columnOf(int64_t channel) const {
    return channel / layout.getBlock() * blockColumns +
           channel % layout.getBlock();
  }
};

/// Where a stream's scales go when it is contracted: "none", "operand" or
/// "result". Keys are contracted over channels and values over tokens; a scale
/// that varies along that dimension goes into the operand.
llvm::StringRef scalesOf(StreamAttr stream);

/// The block of channels that a plane's streams keep apart: see #kv.layout.
int64_t channelBlockOf(PrecisionAttrInterface precision, Plane plane,
                       int64_t dim);

} // namespace kvc::kv

#endif // KVC_DIALECT_KVLAYOUT_H
