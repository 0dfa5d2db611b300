//===- Rounding.cpp - operands of whole numbers ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/IntegerDots.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kvc {

/// Rows of less stand for nothing beside those of others; what an integer of
/// two rows may be, divided by it, is a number of f32.
static constexpr double Least = 0x1p-96;

SmallVector<Value> Rounding::largest(ArrayRef<Row> rows, Value begin,
                                     Value end) {
  SmallVector<Value> none(rows.size(), at.number(0.0));
  auto most = at.loop(
      begin, end, at.lanes, none, [&](Value column, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [row, most] : llvm::zip(rows, carried)) {
          Value x = math::AbsFOp::create(at.builder, at.loc,
                                         at.load(from, row.from, column));
          next.push_back(at.greatestF(most, x));
        }
        return next;
      });
  for (Value &row : most)
    row = at.greatestOf(row);
  return most;
}

/// A sum with 1.5 * 2^23 has the whole number in its low bits.
std::pair<Value, Value> Rounding::number(Value &x, Value step, Value inverse) {
  Value magic = at.number(0x1.8p23);
  Value sum = at.fma(x, inverse, magic);
  Value whole = at.subtractF(sum, magic);
  Value minus = arith::NegFOp::create(at.builder, at.loc, whole);
  x = at.fma(minus, step, x);
  return {arith::BitcastOp::create(at.builder, at.loc, at.i32(), sum), whole};
}

/// The low bits of a group's vectors, in the order that codes lie in.
void Rounding::pack(ArrayRef<Value> bits, Value row, Value column) {
  auto element = at.builder.getIntegerType(32 / integers.parts);
  auto shuffle = [&](Value a, Value b, ArrayRef<int64_t> lanes) -> Value {
    return vector::ShuffleOp::create(at.builder, at.loc, a, b, lanes);
  };
  auto narrow = [&](Value vector, int64_t width) -> Value {
    return arith::TruncIOp::create(at.builder, at.loc,
                                   VectorType::get({width}, element), vector);
  };
  // Bytes of one short vector fill no register: they are narrowed together.
  const bool joinsFirst = at.form.factorsAtOnce();
  SmallVector<Value> parts(bits);
  if (!joinsFirst)
    for (Value &part : parts)
      part = narrow(part, at.lanes);
  int64_t width = at.lanes;
  for (; parts.size() > 1; width *= 2) {
    SmallVector<int64_t> both = llvm::to_vector(llvm::seq(2 * width));
    SmallVector<Value> joined;
    for (size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(shuffle(parts[i], parts[i + 1], both));
    parts = joined;
  }
  if (joinsFirst)
    parts[0] = narrow(parts[0], width);
  SmallVector<int64_t> order;
  for (int64_t place = 0; place < width; ++place) {
    const int64_t word = place / integers.codes;
    const int64_t within = place % integers.codes;
    order.push_back(
        word * integers.codes +
        integers.slotOf(within / integers.parts, within % integers.parts));
  }
  Value packed = shuffle(parts[0], parts[0], order);
  auto words =
      VectorType::get({width / integers.parts}, at.builder.getI32Type());
  packed = vector::BitCastOp::create(at.builder, at.loc, words, packed);
  at.store(packed, to, row, at.divide(column, integers.parts));
}

void Rounding::store(Value scalar, const Row &row, int64_t term) {
  at.storeScalar(scalar, terms, row.term, at.add(row.column, term));
}

SmallVector<Value> Rounding::round(ArrayRef<Row> rows, Value begin, Value end,
                                   bool inSum) {
  auto scalar = [&](double value) -> Value {
    return arith::ConstantOp::create(
        at.builder, at.loc,
        at.builder.getF32FloatAttr(static_cast<float>(value)));
  };
  auto divide = [&](Value a, Value b) -> Value {
    return arith::DivFOp::create(at.builder, at.loc, a, b);
  };
  SmallVector<Value> most = largest(rows, begin, end);
  SmallVector<Steps> steps, low;
  for (auto [row, value] : llvm::zip(rows, most)) {
    Value bound = at.greatestF(value, scalar(Least));
    Value all = scalar(static_cast<double>(integers.most));
    Value step = divide(bound, all), inverse = divide(all, bound);
    store(step, row, kv::Terms::Step);
    steps.push_back({at.broadcast(step), at.broadcast(inverse)});
    if (integers.rows == 2)
      low.push_back(
          {at.multiplyF(steps.back().step, at.number(kv::Integers::LowStep)),
           at.multiplyF(steps.back().inverse,
                        at.number(1 / kv::Integers::LowStep))});
  }
  // Of each row: the sum of what is left; of numbers, where these count.
  const size_t sums = inSum ? 1 : 1 + integers.rows;
  SmallVector<Value> none(rows.size() * sums, at.number(0.0));
  auto totals =
      at.loop(begin, end, group(), none, [&](Value column, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (auto [i, row] : llvm::enumerate(rows)) {
          Value *sum = &next[i * sums];
          SmallVector<Value> bits, lowBits;
          for (int64_t j = 0; j < group(); j += at.lanes) {
            Value x = at.load(from, row.from, at.add(column, j));
            auto [high, whole] = number(x, steps[i].step, steps[i].inverse);
            bits.push_back(high);
            if (!inSum)
              sum[1] = at.addF(sum[1], whole);
            if (integers.rows == 2) {
              auto [more, rest] = number(x, low[i].step, low[i].inverse);
              lowBits.push_back(more);
              sum[2] = at.addF(sum[2], rest);
            }
            sum[0] = at.addF(sum[0], x);
          }
          pack(bits, row.to, column);
          if (integers.rows == 2)
            pack(lowBits, at.add(row.to, 1), column);
        }
        return next;
      });
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value rest = at.sum(totals[i * sums]);
    if (inSum) {
      Value middle = scalar(0.5 * static_cast<double>(integers.top));
      Value zeros =
          at.loadScalar(terms, row.term, at.add(row.column, kv::Terms::Sum));
      store(at.addF(zeros, at.multiplyF(rest, middle)), row, kv::Terms::Sum);
      continue;
    }
    store(rest, row, kv::Terms::Rest);
    store(at.sum(totals[i * sums + 1]), row, kv::Terms::Count);
    if (integers.rows == 2)
      store(at.sum(totals[i * sums + 2]), row, kv::Terms::Low);
  }
  return most;
}

} // namespace kvc
