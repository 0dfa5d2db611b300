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
    llvm::StringRef pairs, pairsOfBytes, quads;
  };
  static const Names known[] = {
      {"vpmadd", 8, "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx2.pmadd.ub.sw", ""},
      {"vpmadd", 16, "llvm.x86.avx512.pmaddw.d.512",
       "llvm.x86.avx512.pmaddubs.w.512", ""},
      {"sdot", 4, "", "", "llvm.aarch64.neon.sdot.v4i32.v16i8"},
  };
  for (const Names &names : known) {
    if (names.target != instructions || names.lanes != at.lanes)
      continue;
    pairs = names.pairs;
    if (integers.parts == 4) {
      pairsOfBytes = names.pairsOfBytes;
      quads = names.quads;
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

Value IntegerDots::codes(Value words, int64_t step) {
  // In lanes of i16 the uppermost code needs no mask.
  const int64_t bits = 32 / integers.codes;
  Value codes = integers.parts == 2 ? cast(words, 16) : words;
  Type type = codes.getType();
  auto constant = [&](int64_t value) {
    return kv::splatInt(at.builder, at.loc, value, type);
  };
  if (step)
    codes = arith::ShRUIOp::create(at.builder, at.loc, codes,
                                   constant(step * bits));
  if (integers.parts == 2) {
    if (step + 1 < integers.steps())
      codes = arith::AndIOp::create(at.builder, at.loc, codes,
                                    constant(integers.top));
    return codes;
  }
  const int64_t mask = integers.top * 0x01010101;
  codes = arith::AndIOp::create(at.builder, at.loc, codes, constant(mask));
  return cast(codes, 8);
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

Value IntegerDots::add(Value partial, Value codes, Value operand) {
  Value numbers = cast(at.broadcast(operand), 32 / integers.parts);
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

Value IntegerDots::widen(Value sum, Value partial) {
  if (isNarrow()) {
    Value ones = kv::splatInt(at.builder, at.loc, 1, partial.getType());
    partial = call(pairs, sum, {partial, ones});
  }
  return arith::AddIOp::create(at.builder, at.loc, sum, partial);
}

} // namespace kvc
