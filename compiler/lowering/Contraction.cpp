//===- Contraction.cpp - sums of operand times code -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Contraction.h"

using namespace mlir;

namespace kvc {

SmallVector<Value> Contraction::build(Value from, Value to) {
  const int64_t vectors = record.layout.vectors();
  SmallVector<Value> zeros(rows.size() * vectors, at.number(0.0));
  Value first = record.blockAddress(block);
  return at.loop(from, to, zeros, [&](Value word, ValueRange carried) {
    SmallVector<Value> sums(carried);
    Value address = at.add(first, at.multiply(word, record.wordStride()));
    record.prefetch(address);
    Value place = at.add(column, at.multiply(at.subtract(word, from),
                                             record.layout.codesPerWord));
    SmallVector<SlotWords> words;
    for (int64_t vector = 0; vector < vectors; ++vector)
      words.push_back(
          record.loadSlots(at.add(address, vector * record.layout.lanes())));
    for (int64_t slot = 0; slot < record.layout.codesPerWord; ++slot)
      addSlot(slot, words, at.add(place, slot), sums);
    return sums;
  });
}

void Contraction::addSlot(int64_t slot, ArrayRef<SlotWords> words, Value column,
                          SmallVector<Value> &sums) {
  const int64_t vectors = record.layout.vectors();
  SmallVector<Value> codes;
  Value center;
  if (centers)
    center = at.broadcast(at.loadScalar(centers, centerRow, column));
  for (auto [vector, word] : llvm::enumerate(words)) {
    Value code = record.decodeSlot(word, slot);
    if (!laneCenters.empty())
      center = laneCenters[vector];
    codes.push_back(center ? at.subtractF(code, center) : code);
  }
  for (auto [head, row] : llvm::enumerate(rows)) {
    Value factor = at.broadcast(at.loadScalar(operand, row, column));
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value &sum = sums[head * vectors + vector];
      sum = at.fma(factor, codes[vector], sum);
    }
  }
}

SmallVector<Value> IntegerContraction::build(Value from, Value to) {
  const Value zero = kv::splatInt(at.builder, at.loc, 0, at.i32());
  SmallVector<Value> zeros(rows.size() * record.layout.vectors(), zero);
  const int64_t some = dots.partialWords();
  if (!some)
    return partial(from, to, zeros);
  SmallVector<Value> nothing(zeros.size(), dots.nothing());
  return at.loop(from, to, some, zeros, [&](Value word, ValueRange carried) {
    SmallVector<Value> sums(carried);
    Value end = at.least(at.add(word, some), to);
    for (auto [sum, part] : llvm::zip(sums, partial(word, end, nothing)))
      sum = dots.widen(sum, part);
    return sums;
  });
}

SmallVector<Value> IntegerContraction::numbers(Value from, Value to,
                                               int64_t most) {
  auto converted = [&](Value begin, Value end) {
    SmallVector<Value> sums = build(begin, end);
    for (Value &sum : sums)
      sum = arith::SIToFPOp::create(at.builder, at.loc, at.f32(), sum);
    return sums;
  };
  const int64_t some = dots.integers.mostWords();
  if (most <= some)
    return converted(from, to);
  SmallVector<Value> zeros(rows.size() * record.layout.vectors(),
                           at.number(0.0));
  return at.loop(from, to, some, zeros, [&](Value word, ValueRange carried) {
    SmallVector<Value> sums(carried);
    Value end = at.least(at.add(word, some), to);
    for (auto [sum, part] : llvm::zip(sums, converted(word, end)))
      sum = at.addF(sum, part);
    return sums;
  });
}

SmallVector<Value> IntegerContraction::partial(Value from, Value to,
                                               ArrayRef<Value> start) {
  Value first = record.blockAddress(block);
  return at.loop(from, to, start, [&](Value word, ValueRange carried) {
    SmallVector<Value> sums(carried);
    Value address = at.add(first, at.multiply(word, record.wordStride()));
    Value place = at.multiply(at.subtract(word, origin), dots.integers.steps());
    record.prefetch(address);
    SmallVector<Value> words;
    for (int64_t vector = 0; vector < record.layout.vectors(); ++vector)
      words.push_back(
          record.loadWords(at.add(address, vector * record.layout.lanes())));
    for (int64_t step = 0; step < dots.integers.steps(); ++step)
      addStep(step, words, at.add(place, step), sums);
    return sums;
  });
}

void IntegerContraction::addStep(int64_t step, ArrayRef<Value> words,
                                 Value place, SmallVector<Value> &sums) {
  SmallVector<Value> codes;
  for (Value word : words)
    codes.push_back(dots.codes(word, step));
  for (auto [head, row] : llvm::enumerate(rows)) {
    Value factor = at.loadScalar(operand, row, place);
    for (auto [vector, code] : llvm::enumerate(codes)) {
      Value &sum = sums[head * words.size() + vector];
      sum = dots.add(sum, code, factor);
    }
  }
}

Value loadTerm(Lanes &at, Value terms, Value row, Value block, int64_t term) {
  return at.loadScalar(terms, row, at.add(termsOf(at, block), term));
}

} // namespace kvc
