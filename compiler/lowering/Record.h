//===- Record.h - addresses within a head's record of a page ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LOWERING_RECORD_H
#define KVC_COMPILER_LOWERING_RECORD_H

#include "compiler/lowering/Lanes.h"
#include "dialect/KVLayout.h"
#include "dialect/KVTypes.h"

namespace kvc {

/// A pair (scale, zero) with its center c and rest r = zero + c * scale, so
/// that code * scale + zero = (code - c) * scale + r; see kv.fold.
struct CenteredPair {
  Value scale, center, rest;
};

/// Where one code lies.
struct CodePlace {
  Value address; ///< of its word
  Value shift;   ///< i32, its lowest bit in the word; null: the whole word
};

/// A vector of words as a contraction reads them: the words, or, where slots
/// lie apart, the codes of each slot in the low bits of words.
using SlotWords = SmallVector<Value, 2>;

/// One head's record in a page: the addresses that #kv.layout describes.
struct Record {
  /// `page` is the memref of words of a page of `type`.
  Record(Lanes &lanes, Value page, kv::PageType type, Value head);

  Lanes &at;
  Value page;
  kv::PageLayout layout;
  Value base; ///< first word of the record

  /// Where in its page a token lies.
  Value offsetOf(Value token);
  /// Address of word `word` of lane 0 of vector `vector`.
  Value codeAddress(Value vector, Value word);
  /// Words between one word of a vector and its next one.
  int64_t wordStride() const { return layout.vectors() * layout.lanes(); }
  /// Address of the first word of `block` (of `vectors` vectors).
  Value blockAddress(Value block);
  /// Address of the pair of the block of scales of (token offset, channel).
  Value pairAddress(Value offset, Value pairChannel);

  /// A channel's place in storage order: see PageLayout.
  Value columnOf(Value channel);
  /// Where the code of (token offset, channel) lies.
  CodePlace placeOf(Value offset, Value channel);
  /// The code there, in the low bits of a word; others may lie above it.
  Value loadCode(CodePlace place);
  /// Put a code into its word and leave the others.
  void putCode(Value code, CodePlace place);

  /// The codes of all lanes of a vector at a packed index, each in the low bits
  /// of a word; where to, those with `mask` alone.
  Value loadCodes(Value vector, Value packed);
  void putCodes(Value codes, Value vector, Value packed, Value mask);

  /// What lies at the address of a word of a vector, and a slot of it as
  /// numbers.
  SlotWords loadSlots(Value address);
  Value decodeSlot(ArrayRef<Value> words, int64_t slot);

  /// Later reads of this record are at `words` words behind those of `page`.
  void lookAhead(Value page, Value words);
  /// Asks for the lines that come as those do which are read together at
  /// `address`; nothing where nobody looks ahead.
  void prefetch(Value address);

  Value loadWords(Value address);
  void storeWords(Value words, Value address);
  Value loadWord(Value address);
  void storeWord(Value word, Value address);

  /// The pairs at `address`: of as many lanes (`vector`), or one.
  kv::ScaleZero loadPair(Value address, bool vector);
  CenteredPair loadCentered(Value address, bool vector);
  void storePair(const kv::BuiltPair &pair, Value address, Value mask);

private:
  Value ahead, aheadWords;

  /// The bits of a code, as shift for the slot of a packed index; null where
  /// a word holds one code.
  Value slotShift(Value packed);
  /// `old` with the bits of `code` at `shift`, all of one shape.
  Value insert(Value code, Value old, Value shift);
  /// Where slots lie apart: the address of a slot of a vector's words.
  Value halvesAddress(Value address, Value slot);
};

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_RECORD_H
