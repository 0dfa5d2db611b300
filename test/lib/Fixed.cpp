//===- Fixed.cpp - a precision point: fixed-point numbers -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/lib/KVTest.h"

#include <cmath>

using namespace mlir;
using namespace kvc::kv;

namespace kvtest {

unsigned FixedAttr::getElementBits() const { return 8; }

std::optional<ScaleBlock> FixedAttr::getBlock(int64_t) const {
  return std::nullopt;
}

CodedBlock FixedAttr::encode(ArrayRef<float> values) const {
  CodedBlock block;
  for (float value : values) {
    // A power of two: the product is exact, or too large to matter.
    float scaled = value * std::ldexp(1.0f, getFraction());
    block.saturated += scaled < -128.0f || scaled > 127.0f;
    float whole = std::nearbyint(std::clamp(scaled, -128.0f, 127.0f));
    block.codes.push_back(static_cast<uint32_t>(whole + 128.0f));
  }
  return block;
}

double FixedAttr::decode(uint32_t code, Pair) const {
  return std::ldexp(static_cast<double>(code) - 128, -getFraction());
}

float FixedAttr::read(uint32_t code, Pair pair) const {
  return static_cast<float>(decode(code, pair)); // exact
}

Value FixedAttr::buildEncode(OpBuilder &builder, Location loc, Value value,
                             ScaleZero, Value *saturated) const {
  Type f32 = value.getType(), i32 = shapedLike(builder.getI32Type(), f32);
  auto number = [&](double x) { return splatFloat(builder, loc, x, f32); };
  auto compare = [&](arith::CmpFPredicate predicate, Value a,
                     Value b) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  };
  Value scaled = arith::MulFOp::create(builder, loc, value,
                                       number(std::ldexp(1.0, getFraction())));
  Value low = compare(arith::CmpFPredicate::OLT, scaled, number(-128));
  Value high = compare(arith::CmpFPredicate::OGT, scaled, number(127));
  if (saturated) {
    Value beyond = arith::OrIOp::create(builder, loc, low, high);
    *saturated = arith::ExtUIOp::create(builder, loc, i32, beyond);
  }
  Value within =
      arith::SelectOp::create(builder, loc, low, number(-128), scaled);
  within = arith::SelectOp::create(builder, loc, high, number(127), within);
  Value whole = math::RoundEvenOp::create(builder, loc, within);
  whole = arith::AddFOp::create(builder, loc, whole, number(128));
  return arith::FPToSIOp::create(builder, loc, i32, whole);
}

Value FixedAttr::buildDecode(OpBuilder &builder, Location loc, Value word,
                             unsigned slot) const {
  Type i32 = word.getType(), f32 = shapedLike(builder.getF32Type(), i32);
  auto integer = [&](int64_t x) { return splatInt(builder, loc, x, i32); };
  Value code = arith::ShRUIOp::create(builder, loc, word, integer(8 * slot));
  code = arith::AndIOp::create(builder, loc, code, integer(255));
  code = arith::SubIOp::create(builder, loc, code, integer(128));
  Value number = arith::SIToFPOp::create(builder, loc, f32, code);
  return arith::MulFOp::create(
      builder, loc, number,
      splatFloat(builder, loc, std::ldexp(1.0, -getFraction()), f32));
}

} // namespace kvtest
