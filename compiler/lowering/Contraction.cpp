//===- Contraction.cpp - sums of operand times code -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Contraction.h"

using namespace mlir;

namespace kvc {

Factor Factors::of(size_t row, int64_t column) {
  const int64_t some = at.form.factorsAtOnce();
  if (!some)
    return {at.loadScalar(operand, rows[row], at.add(place, column))};
  const int64_t element = column % some;
  if (!element) {
    Type type = cast<MemRefType>(operand.getType()).getElementType();
    auto vector = VectorType::get({std::min(some, count - column)}, type);
    loaded[row] =
        vector::LoadOp::create(at.builder, at.loc, vector, operand,
                               ValueRange{rows[row], at.add(place, column)});
  }
  return {loaded[row], element};
}

/// A loop over words [from, to), some together and the rest one by one.
static SmallVector<Value>
overWords(Lanes &at, Value from, Value to, int64_t together,
          ArrayRef<Value> start,
          llvm::function_ref<void(Value, int64_t, SmallVector<Value> &)> add) {
  auto some = [&](Value begin, Value end, int64_t count, ValueRange carried) {
    return at.loop(begin, end, count, carried,
                   [&](Value word, ValueRange carried) {
                     SmallVector<Value> sums(carried);
                     add(word, count, sums);
                     return sums;
                   });
  };
  if (together == 1)
    return some(from, to, 1, start);
  Value groups = at.divide(at.subtract(to, from), together);
  Value whole = at.add(from, at.multiply(groups, together));
  return some(whole, to, 1, some(from, whole, together, start));
}

SmallVector<Value> Contraction::zeros() const {
  return SmallVector<Value>(rows.size() * record.layout.vectors(),
                            at.number(0.0));
}

SmallVector<Value> Contraction::buildInStretches(Value from, int64_t count) {
  const int64_t codes = record.layout.codesPerWord;
  const int64_t some = std::max<int64_t>(1, Lanes::ChainTerms / codes);
  const Value start = column;
  const SmallVector<Value> none = zeros();
  return at.inStretches(
      at.index(0), at.index(count), some, none, none.size(),
      [&](Value begin, Value end, ValueRange) {
        Contraction stretch = *this;
        stretch.column = at.add(start, at.multiply(begin, codes));
        return stretch.build(at.add(from, begin), at.add(from, end));
      });
}

SmallVector<Value> Contraction::build(Value from, Value to) {
  const int64_t codes = record.layout.codesPerWord;
  Value first = record.blockAddress(block);
  auto add = [&](Value word, int64_t count, SmallVector<Value> &sums) {
    Value address = at.add(first, at.multiply(word, record.wordStride()));
    Value place = at.add(column, at.multiply(at.subtract(word, from), codes));
    Factors factors(at, operand, rows, place, count * codes);
    for (int64_t number = 0; number < count; ++number)
      addWord(number, at.add(address, number * record.wordStride()), place,
              factors, sums);
  };
  return overWords(at, from, to, Factors::wordsTogether(at, codes), zeros(),
                   add);
}

void Contraction::addWord(int64_t number, Value address, Value place,
                          Factors &factors, SmallVector<Value> &sums) {
  const int64_t vectors = record.layout.vectors();
  record.prefetch(address);
  SmallVector<SlotWords> words;
  for (int64_t vector = 0; vector < vectors; ++vector)
    words.push_back(
        record.loadSlots(at.add(address, vector * record.layout.lanes())));
  for (int64_t slot = 0; slot < record.layout.codesPerWord; ++slot) {
    const int64_t column = number * record.layout.codesPerWord + slot;
    SmallVector<Value> codes;
    Value center;
    if (centers)
      center = at.broadcast(
          at.loadScalar(centers, centerRow, at.add(place, column)));
    for (auto [vector, word] : llvm::enumerate(words)) {
      Value code = record.decodeSlot(word, slot);
      if (!laneCenters.empty())
        center = laneCenters[vector];
      codes.push_back(center ? at.subtractF(code, center) : code);
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      Value factor = at.broadcast(factors.of(row, column));
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value &sum = sums[row * vectors + vector];
        sum = at.fma(factor, codes[vector], sum);
      }
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
  return at.inStretches(from, to, some, zeros, zeros.size(),
                        [&](Value begin, Value end, ValueRange) {
                          return converted(begin, end);
                        });
}

SmallVector<Value> IntegerContraction::partial(Value from, Value to,
                                               ArrayRef<Value> start) {
  const int64_t steps = dots.integers.steps();
  Value first = record.blockAddress(block);
  auto add = [&](Value word, int64_t count, SmallVector<Value> &sums) {
    Value address = at.add(first, at.multiply(word, record.wordStride()));
    Value place = at.multiply(at.subtract(word, origin), steps);
    Factors factors(at, operand, rows, place, count * steps);
    for (int64_t number = 0; number < count; ++number)
      addWord(number, at.add(address, number * record.wordStride()), factors,
              sums);
  };
  return overWords(at, from, to, Factors::wordsTogether(at, steps), start, add);
}

void IntegerContraction::addWord(int64_t number, Value address,
                                 Factors &factors, SmallVector<Value> &sums) {
  const int64_t vectors = record.layout.vectors();
  record.prefetch(address);
  SmallVector<Value> words;
  for (int64_t vector = 0; vector < vectors; ++vector)
    words.push_back(
        record.loadWords(at.add(address, vector * record.layout.lanes())));
  for (int64_t step = 0; step < dots.integers.steps(); ++step) {
    SmallVector<Value> codes = dots.codes(words, step);
    const int64_t column = number * dots.integers.steps() + step;
    for (size_t row = 0; row < rows.size(); ++row)
      dots.add(MutableArrayRef(sums).slice(row * vectors, vectors), codes,
               factors.of(row, column));
  }
}

Value loadTerm(Lanes &at, Value terms, Value row, Value block, int64_t term) {
  return at.loadScalar(terms, row, at.add(termsOf(at, block), term));
}

} // namespace kvc
