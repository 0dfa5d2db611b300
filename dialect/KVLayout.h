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

/// What stands beside an operand of whole numbers n, which are for x = n * step
/// + e: columns of a tile, for each row and block of channels.
struct Terms {
  static constexpr int64_t Sum = 0;  ///< zeros: of the row, or to multiply with
  static constexpr int64_t Step = 1; ///< what 1 stands for
  static constexpr int64_t Rest = 2; ///< scales in the result: sum of e
  static constexpr int64_t Count = 3; ///< sum of n
  static constexpr int64_t Low = 4;   ///< sum of the second row's n
  static constexpr int64_t Columns = 5;
};

/// How a stream's codes are multiplied as integers.
struct Integers {
  /// Those of `element` (i16 or i8; null: none) for runs of `run` tokens;
  /// nothing where the stream has no codes or they are too large for it.
  static std::optional<Integers> of(StreamAttr stream, mlir::Type element,
                                    int64_t run);
  Integers(StreamAttr stream, mlir::Type element);

  int64_t parts;    ///< integers of a 32-bit word: 2, or 4
  int64_t codes;    ///< codes of a word
  int64_t top;      ///< the largest code
  int64_t most;     ///< the largest magnitude of an integer
  int64_t rows = 1; ///< of the operand for one of numbers: 1, or 2
  /// What the second row's 1 stands for, in steps.
  static constexpr double LowStep = 0x1p-15;
  /// Weights of two rows that are smaller, as a part of the largest, do not
  /// fit: what two numbers leave, 2^-31 of the largest at most, is no more than
  /// 2^-12 of a weight.
  static constexpr double LeastWeight = 0x1p-19;
  /// What a logit may lose to steps of i16: an error T multiplies weights by
  /// exp(T), and that is 1 + T, as its bound has it, while T is small.
  static constexpr double MostLost = 0.1;

  /// What a logit of `channels` may lose to steps of 1: half a step times half
  /// the codes of each.
  double lostBySteps(int64_t channels) const {
    return 0.25 * static_cast<double>(top * channels);
  }

  /// Words of the operand that meet one word of codes. Word i has, as part k,
  /// what meets slot i + k * steps(): so a word of codes, shifted by i codes
  /// and masked, lies as its operand does.
  int64_t steps() const { return codes / parts; }
  int64_t slotOf(int64_t step, int64_t part) const {
    return step + part * steps();
  }
  /// Words of codes whose products a sum in 32 bits has room for.
  int64_t mostWords() const {
    return ((int64_t(1) << 31) - 1) / (most * top) / codes;
  }
};

/// The block of channels that a plane's streams keep apart: see #kv.layout.
int64_t channelBlockOf(PrecisionAttrInterface precision, Plane plane,
                       int64_t dim);

} // namespace kvc::kv

#endif // KVC_DIALECT_KVLAYOUT_H
