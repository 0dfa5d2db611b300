//===- IntegerDots.cpp - dot products of small integers -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/IntegerDots.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace kvc {

IntegerDots::IntegerDots(Lanes &at, kv::Integers integers,
                         llvm::StringRef instructions)
    : integers(integers), at(at) {
  struct Names {
    llvm::StringRef target;
    int64_t lanes;
    llvm::StringRef pairs, pairsOfBytes, quads, longs;
  };
  static const Names known[] = {
      {"vpmadd", 8, "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx2.pmadd.ub.sw", "",
       ""},
      {"vpmadd", 16, "llvm.x86.avx512.pmaddw.d.512",
       "llvm.x86.avx512.pmaddubs.w.512", "", ""},
      {"sdot", 4, "", "", "llvm.aarch64.neon.sdot.v4i32.v16i8",
       "llvm.aarch64.neon.smull.v4i32"},
  };
  for (const Names &names : known) {
    if (names.target != instructions || names.lanes != at.lanes)
      continue;
    pairs = names.pairs;
    if (integers.parts == 4) {
      pairsOfBytes = names.pairsOfBytes;
      quads = names.quads;
    } else {
      longs = names.longs;
    }
  }
}

Value IntegerDots::call(llvm::StringRef intrinsic, Value like,
                        ValueRange values) {
  return LLVM::CallIntrinsicOp::create(at.builder, at.loc, like.getType(),
                                       at.builder.getStringAttr(intrinsic),
                                       values)
      .getResult(0);
}

/// Lanes of words as lanes of so many bits.
Value IntegerDots::cast(Value words, unsigned bits) {
  auto narrow =
      VectorType::get({at.lanes * 32 / bits}, at.builder.getIntegerType(bits));
  return vector::BitCastOp::create(at.builder, at.loc, narrow, words);
}

SmallVector<Value> IntegerDots::codes(ArrayRef<Value> words, int64_t step) {
  if (!longs.empty())
    return laneCodes(words, step);
  SmallVector<Value> codes;
  for (Value word : words)
    codes.push_back(codesOf(word, step));
  return codes;
}

Value IntegerDots::codesOf(Value words, int64_t step) {
  if (integers.parts == 2)
    return within(cast(words, 16), step);
  if (!quads.empty())
    return within(cast(words, 8), step);
  // There is no shift of bytes.
  Type type = words.getType();
  if (step)
    words = arith::ShRUIOp::create(
        at.builder, at.loc, words,
        kv::splatInt(at.builder, at.loc, step * bits(), type));
  const int64_t mask = integers.top * 0x01010101;
  words = arith::AndIOp::create(at.builder, at.loc, words,
                                kv::splatInt(at.builder, at.loc, mask, type));
  return cast(words, 8);
}

/// The code of a step in each part of a word, which is an element of `parts`:
/// there the uppermost code needs no mask.
Value IntegerDots::within(Value parts, int64_t step) {
  auto constant = [&](int64_t value) {
    return kv::splatInt(at.builder, at.loc, value, parts.getType());
  };
  if (step)
    parts = arith::ShRUIOp::create(at.builder, at.loc, parts,
                                   constant(step * bits()));
  if (step + 1 < integers.steps())
    parts = arith::AndIOp::create(at.builder, at.loc, parts,
                                  constant(integers.top));
  return parts;
}

Value IntegerDots::nothing() {
  Value zeros = kv::splatInt(at.builder, at.loc, 0, at.i32());
  return isNarrow() ? cast(zeros, 16) : zeros;
}

int64_t IntegerDots::partialWords() const {
  if (!isNarrow())
    return 0;
  // Each step adds two products.
  const int64_t steps = ((1 << 15) - 1) / (2 * integers.top * integers.most);
  return std::max<int64_t>(1, steps / integers.steps());
}

void IntegerDots::add(MutableArrayRef<Value> partials, ArrayRef<Value> codes,
                      Factor operand) {
  if (!longs.empty())
    return addByLane(partials, codes, operand);
  for (auto [partial, code] : llvm::zip_equal(partials, codes))
    partial = addProducts(partial, code,
                          cast(at.broadcast(operand), 32 / integers.parts));
}

Value IntegerDots::addProducts(Value partial, Value codes, Value numbers) {
  if (!quads.empty())
    return call(quads, partial, {partial, codes, numbers});
  llvm::StringRef intrinsic = isNarrow()            ? pairsOfBytes
                              : integers.parts == 2 ? pairs
                                                    : llvm::StringRef();
  if (intrinsic.empty())
    return addAnywhere(partial, codes, numbers);
  Value products = call(intrinsic, partial, {codes, numbers});
  return arith::AddIOp::create(at.builder, at.loc, partial, products);
}

/// In i32, neighbours added up until a lane has one sum.
Value IntegerDots::addAnywhere(Value partial, Value codes, Value numbers) {
  auto wide =
      VectorType::get({at.lanes * integers.parts}, at.builder.getI32Type());
  Value a = arith::ExtUIOp::create(at.builder, at.loc, wide, codes);
  Value b = arith::ExtSIOp::create(at.builder, at.loc, wide, numbers);
  Value products = arith::MulIOp::create(at.builder, at.loc, a, b);
  for (int64_t parts = integers.parts; parts > 1; parts /= 2) {
    auto halves = vector::DeinterleaveOp::create(at.builder, at.loc, products);
    products = arith::AddIOp::create(at.builder, at.loc, halves.getRes1(),
                                     halves.getRes2());
  }
  return arith::AddIOp::create(at.builder, at.loc, partial, products);
}

/// The parts of two vectors of words, sorted: of each part the code of all
/// lanes, of which one number is the factor. A vector that has no other is
/// sorted alone.
SmallVector<Value> IntegerDots::laneCodes(ArrayRef<Value> words, int64_t step) {
  SmallVector<Value> codes;
  for (size_t i = 0; i < words.size(); i += 2) {
    const size_t some = std::min<size_t>(2, words.size() - i);
    Value first = cast(words[i], 16), last = cast(words[i + some - 1], 16);
    for (int64_t part = 0; part < integers.parts; ++part) {
      SmallVector<int64_t> places;
      for (size_t lane = 0; lane < some * at.lanes; ++lane)
        places.push_back(lane * integers.parts + part);
      Value sorted =
          vector::ShuffleOp::create(at.builder, at.loc, first, last, places);
      codes.push_back(within(sorted, step));
    }
  }
  return codes;
}

void IntegerDots::addByLane(MutableArrayRef<Value> partials,
                            ArrayRef<Value> codes, Factor operand) {
  if (!isa<VectorType>(operand.from.getType()))
    operand = {at.broadcast(operand.from)};
  const int64_t count =
      llvm::cast<VectorType>(operand.from.getType()).getNumElements();
  auto halves =
      VectorType::get({count * integers.parts}, at.builder.getIntegerType(16));
  Value numbers =
      vector::BitCastOp::create(at.builder, at.loc, halves, operand.from);
  for (int64_t part = 0; part < integers.parts; ++part) {
    const SmallVector<int64_t> place(at.lanes,
                                     operand.element * integers.parts + part);
    Value number =
        vector::ShuffleOp::create(at.builder, at.loc, numbers, numbers, place);
    for (auto [i, partial] : llvm::enumerate(partials)) {
      Value code = vector::ExtractStridedSliceOp::create(
          at.builder, at.loc, codes[i / 2 * integers.parts + part],
          ArrayRef<int64_t>{static_cast<int64_t>(i % 2) * at.lanes},
          ArrayRef<int64_t>{at.lanes}, ArrayRef<int64_t>{1});
      Value product = call(longs, partial, {code, number});
      partial = arith::AddIOp::create(at.builder, at.loc, partial, product);
    }
  }
}

Value IntegerDots::widen(Value sum, Value partial) {
  if (isNarrow()) {
    Value ones = kv::splatInt(at.builder, at.loc, 1, partial.getType());
    partial = call(pairs, sum, {partial, ones});
  }
  return arith::AddIOp::create(at.builder, at.loc, sum, partial);
}

} // namespace kvc
