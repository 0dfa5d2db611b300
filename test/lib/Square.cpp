//===- Square.cpp - a precision point: a scale for tokens x channels ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/lib/KVTest.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using namespace kvc::kv;

namespace kvtest {

/// The largest number of f16, and the least scale: its least normal number.
static constexpr float kGreatest = 65504.0f, kLeastScale = 0x1p-14f;

/// `x` as f16, within its range.
static float asHalf(float x) {
  llvm::APFloat half(x);
  bool lost;
  half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
               &lost);
  half.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
               &lost);
  return half.convertToFloat();
}

LogicalResult
SquareAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t bits, int64_t tokens, int64_t channels,
                   int64_t flush, int64_t residual) {
  if (bits < 1 || bits > 16 || (bits & (bits - 1)) != 0)
    return emitError() << "bits are 1, 2, 4, 8 or 16";
  if (tokens < 0 || channels < 1 || residual < 0)
    return emitError() << "channels are at least 1, tokens and residual 0";
  if (flush < 1 || flush % std::max<int64_t>(1, tokens) != 0)
    return emitError() << "flush is a multiple of tokens";
  if (tokens == 0 && (flush > 1 || residual > 0))
    return emitError() << "of all tokens, none waits";
  return success();
}

unsigned SquareAttr::getElementBits() const { return getBits(); }

std::optional<ScaleBlock> SquareAttr::getBlock(int64_t dim) const {
  return ScaleBlock{getTokens() ? getTokens() : ScaleBlock::AllTokens,
                    std::min(getChannels(), dim)};
}

bool SquareAttr::keepsOriginals() const { return true; }

int64_t SquareAttr::codedTokens(int64_t tokens) const {
  return std::max<int64_t>(0, tokens - getResidual()) / getFlush() * getFlush();
}

int64_t SquareAttr::mostOriginals() const { return getFlush() + getResidual(); }

CodedBlock SquareAttr::encode(ArrayRef<float> values) const {
  // -0 counts as +0.
  const float least = *llvm::min_element(values) + 0.0f;
  const float greatest = *llvm::max_element(values) + 0.0f;
  const float levels = (1 << getBits()) - 1;
  volatile float range = greatest - least;
  const float wide = range / levels;

  CodedBlock block;
  block.saturated = (wide > kGreatest) + (std::fabs(least) > kGreatest);
  block.pair.scale = asHalf(std::clamp(wide, kLeastScale, kGreatest));
  block.pair.zero = asHalf(std::clamp(least, -kGreatest, kGreatest));
  for (float value : values) {
    volatile float above = value - block.pair.zero;
    float steps = above / block.pair.scale;
    block.codes.push_back(
        static_cast<uint32_t>(std::nearbyint(std::clamp(steps, 0.0f, levels))));
  }
  return block;
}

double SquareAttr::decode(uint32_t code, Pair pair) const {
  return static_cast<double>(code) * pair.scale + pair.zero; // exact
}

float SquareAttr::read(uint32_t code, Pair pair) const {
  volatile float product = static_cast<float>(code) * pair.scale;
  return product + pair.zero;
}

Value SquareAttr::buildCodedTokens(OpBuilder &builder, Location loc,
                                   Value tokens) const {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value old =
      arith::SubIOp::create(builder, loc, tokens, constant(getResidual()));
  old = arith::MaxSIOp::create(builder, loc, old, constant(0));
  old = arith::DivUIOp::create(builder, loc, old, constant(getFlush()));
  return arith::MulIOp::create(builder, loc, old, constant(getFlush()));
}

BuiltPair SquareAttr::buildPair(OpBuilder &builder, Location loc, Value least,
                                Value greatest) const {
  Type f32 = least.getType(), i32 = shapedLike(builder.getI32Type(), f32);
  Type f16 = shapedLike(builder.getF16Type(), f32);
  Type i16 = shapedLike(builder.getI16Type(), f32);
  auto number = [&](double x) { return splatFloat(builder, loc, x, f32); };
  auto beyond = [&](Value x) -> Value {
    Value is = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, x,
                                     number(kGreatest));
    return arith::ExtUIOp::create(builder, loc, i32, is);
  };
  auto bits = [&](Value x, float low) -> Value {
    x = arith::MaximumFOp::create(builder, loc, x, number(low));
    x = arith::MinimumFOp::create(builder, loc, x, number(kGreatest));
    x = arith::TruncFOp::create(builder, loc, f16, x);
    x = arith::BitcastOp::create(builder, loc, i16, x);
    return arith::ExtUIOp::create(builder, loc, i32, x);
  };

  least = arith::AddFOp::create(builder, loc, least, number(0));
  greatest = arith::AddFOp::create(builder, loc, greatest, number(0));
  Value wide = arith::SubFOp::create(builder, loc, greatest, least);
  wide =
      arith::DivFOp::create(builder, loc, wide, number((1 << getBits()) - 1));
  Value size = math::AbsFOp::create(builder, loc, least);

  BuiltPair pair;
  pair.saturated =
      arith::AddIOp::create(builder, loc, beyond(wide), beyond(size));
  Value scale = arith::ShLIOp::create(builder, loc, bits(wide, kLeastScale),
                                      splatInt(builder, loc, 16, i32));
  pair.words.push_back(
      arith::OrIOp::create(builder, loc, scale, bits(least, -kGreatest)));
  return pair;
}

ScaleZero SquareAttr::buildUnpackPair(OpBuilder &builder, Location loc,
                                      ValueRange words) const {
  Value word = words.front();
  Type i32 = word.getType(), f32 = shapedLike(builder.getF32Type(), i32);
  Type f16 = shapedLike(builder.getF16Type(), i32);
  Type i16 = shapedLike(builder.getI16Type(), i32);
  auto number = [&](Value half) -> Value {
    half = arith::TruncIOp::create(builder, loc, i16, half);
    half = arith::BitcastOp::create(builder, loc, f16, half);
    return arith::ExtFOp::create(builder, loc, f32, half);
  };
  Value high = arith::ShRUIOp::create(builder, loc, word,
                                      splatInt(builder, loc, 16, i32));
  return {number(high), number(word)};
}

Value SquareAttr::buildEncode(OpBuilder &builder, Location loc, Value value,
                              ScaleZero pair, Value *) const {
  Type f32 = value.getType(), i32 = shapedLike(builder.getI32Type(), f32);
  auto number = [&](double x) { return splatFloat(builder, loc, x, f32); };
  Value code = arith::SubFOp::create(builder, loc, value, pair.zero);
  code = arith::DivFOp::create(builder, loc, code, pair.scale);
  code = arith::MaximumFOp::create(builder, loc, code, number(0));
  code = arith::MinimumFOp::create(builder, loc, code,
                                   number((1 << getBits()) - 1));
  code = math::RoundEvenOp::create(builder, loc, code);
  return arith::FPToUIOp::create(builder, loc, i32, code);
}

Value SquareAttr::buildDecode(OpBuilder &builder, Location loc, Value word,
                              unsigned slot) const {
  Type i32 = word.getType(), f32 = shapedLike(builder.getF32Type(), i32);
  auto integer = [&](int64_t x) { return splatInt(builder, loc, x, i32); };
  Value code =
      arith::ShRUIOp::create(builder, loc, word, integer(getBits() * slot));
  code =
      arith::AndIOp::create(builder, loc, code, integer((1 << getBits()) - 1));
  return arith::UIToFPOp::create(builder, loc, f32, code);
}

} // namespace kvtest
