//===- Affine.cpp - what affine codes have in common ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using llvm::APFloat;

namespace kvc::kv::affine {

static constexpr float LargestF16 = 65504.0f;
static constexpr float LeastNormalF16 = 0x1p-14f;

LogicalResult verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     int64_t bits, int64_t group, int64_t flush,
                     int64_t residual, Type scales) {
  if (bits != 8 && bits != 4)
    return emitError() << "codes have 8 or 4 bits, not " << bits;
  if (group < 1 || group > INT32_MAX)
    return emitError() << "group is 1 to " << INT32_MAX << ", not " << group;
  if (flush < 1 || flush > INT32_MAX)
    return emitError() << "flush is 1 to " << INT32_MAX << ", not " << flush;
  if (residual < 0 || residual > INT32_MAX)
    return emitError() << "residual is 0 to " << INT32_MAX << ", not "
                       << residual;
  if (!scales.isF16())
    return emitError() << "scales are f16, not " << scales
                       << ", which is not generated yet";
  return success();
}

//===----------------------------------------------------------------------===//
// Definition
//===----------------------------------------------------------------------===//

int64_t codedTokens(int64_t tokens, int64_t flush, int64_t residual) {
  return std::max<int64_t>(0, tokens - residual) / flush * flush;
}

double leastScale(Type scales) { return scales.isF16() ? 0x1p-14 : 0x1p-126; }

/// `value` rounded to f16 in the direction of `mode`, within its finite range.
static float roundF16(float value, llvm::RoundingMode mode,
                      int64_t &saturated) {
  if (std::fabs(value) > LargestF16) {
    ++saturated;
    return std::copysign(LargestF16, value);
  }
  APFloat number(value);
  bool loses;
  number.convert(APFloat::IEEEhalf(), mode, &loses);
  number.convert(APFloat::IEEEsingle(), mode, &loses);
  return number.convertToFloat();
}

CodedBlock encode(ArrayRef<float> values, int64_t bits) {
  CodedBlock block;
  float least = values.front() + 0.0f, greatest = least;
  for (float value : values) {
    least = std::min(least, value + 0.0f);
    greatest = std::max(greatest, value + 0.0f);
  }
  const float top = static_cast<float>((1 << bits) - 1);
  float zero =
      roundF16(least, llvm::RoundingMode::TowardNegative, block.saturated);
  // The differences and quotients below are single f32 operations.
  volatile float range = greatest - zero;
  volatile float step = range / top;
  float scale = roundF16(std::max(LeastNormalF16, float(step)),
                         llvm::RoundingMode::TowardPositive, block.saturated);
  block.pair = {scale, zero};
  for (float value : values) {
    volatile float offset = value - zero;
    volatile float code = offset / scale;
    float clamped = std::clamp<float>(float(code), 0.0f, top);
    block.codes.push_back(static_cast<uint32_t>(std::nearbyintf(clamped)));
  }
  return block;
}

double decode(uint32_t code, Pair pair) {
  return static_cast<double>(code) * pair.scale + pair.zero;
}

float read(uint32_t code, Pair pair) {
  volatile float product = static_cast<float>(code) * pair.scale;
  return product + pair.zero;
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

Value buildCodedTokens(OpBuilder &builder, Location loc, Value tokens,
                       int64_t flush, int64_t residual) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value count = tokens;
  if (residual) {
    count = arith::SubIOp::create(builder, loc, count, index(residual));
    count = arith::MaxSIOp::create(builder, loc, count, index(0));
  }
  if (flush == 1)
    return count;
  count = arith::DivUIOp::create(builder, loc, count, index(flush));
  return arith::MulIOp::create(builder, loc, count, index(flush));
}

namespace {
/// Builds f32 arithmetic on values of one shape, one rounding an operation.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;
  Type f32; // of the shape at hand

  Value number(double value) { return splatFloat(builder, loc, value, f32); }
  Type shaped(Type element) { return shapedLike(element, f32); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value least(Value a, Value b) {
    return select(compare(arith::CmpFPredicate::OLT, a, b), a, b);
  }
  Value greatest(Value a, Value b) {
    return select(compare(arith::CmpFPredicate::OGT, a, b), a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value subtract(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value divide(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }

  /// 1 where `condition`, else 0, as i32.
  Value count(Value condition) {
    return arith::ExtUIOp::create(builder, loc, shaped(builder.getI32Type()),
                                  condition);
  }

  /// f16 bits (i16) of `value`, whose magnitude is at most the largest f16:
  /// the nearest f16, or its neighbour where that is on the wrong side.
  Value roundF16(Value value, bool up) {
    Type f16 = shaped(builder.getF16Type()), i16 = shaped(builder.getI16Type());
    Value nearest = arith::TruncFOp::create(builder, loc, f16, value);
    Value back = arith::ExtFOp::create(builder, loc, f32, nearest);
    Value wrong =
        compare(up ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT,
                back, value);
    Value bits = arith::BitcastOp::create(builder, loc, i16, nearest);
    // Magnitudes of f16 count like integers: outwards is + 1, inwards - 1.
    Value zero = splatInt(builder, loc, 0, i16);
    Value negative = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, bits, zero);
    Value one = splatInt(builder, loc, 1, i16),
          minus = splatInt(builder, loc, -1, i16);
    Value move =
        up ? select(negative, minus, one) : select(negative, one, minus);
    Value moved = arith::AddIOp::create(builder, loc, bits, move);
    return select(wrong, moved, bits);
  }
};
} // namespace

BuiltPair buildPair(OpBuilder &builder, Location loc, Value least,
                    Value greatest, int64_t bits) {
  Arithmetic a{builder, loc, least.getType()};
  Type i32 = a.shaped(builder.getI32Type());
  // x + 0 makes -0 to +0 and leaves the rest.
  least = a.add(least, a.number(0.0));
  greatest = a.add(greatest, a.number(0.0));

  Value large = a.number(LargestF16), small = a.number(-LargestF16);
  Value beyond = a.count(a.compare(arith::CmpFPredicate::OGT, least, large));
  beyond = arith::AddIOp::create(
      builder, loc, beyond,
      a.count(a.compare(arith::CmpFPredicate::OLT, least, small)));
  Value zeroBits =
      a.roundF16(a.least(a.greatest(least, small), large), /*up=*/false);
  Value zeroHalf = arith::BitcastOp::create(
      builder, loc, a.shaped(builder.getF16Type()), zeroBits);
  Value zero = arith::ExtFOp::create(builder, loc, a.f32, zeroHalf);

  Value step = a.divide(a.subtract(greatest, zero),
                        a.number(static_cast<double>((1 << bits) - 1)));
  step = a.greatest(step, a.number(LeastNormalF16));
  beyond = arith::AddIOp::create(
      builder, loc, beyond,
      a.count(a.compare(arith::CmpFPredicate::OGT, step, large)));
  Value scaleBits = a.roundF16(a.least(step, large), /*up=*/true);

  Value low = arith::ExtUIOp::create(builder, loc, i32, scaleBits);
  Value high = arith::ExtUIOp::create(builder, loc, i32, zeroBits);
  high = arith::ShLIOp::create(builder, loc, high,
                               splatInt(builder, loc, 16, i32));
  BuiltPair pair;
  pair.words.push_back(arith::OrIOp::create(builder, loc, low, high));
  pair.saturated = beyond;
  return pair;
}

ScaleZero buildUnpackPair(OpBuilder &builder, Location loc, Value word) {
  Type i16 = shapedLike(builder.getI16Type(), word.getType());
  Type f16 = shapedLike(builder.getF16Type(), word.getType());
  Type f32 = shapedLike(builder.getF32Type(), word.getType());
  auto half = [&](Value bits) -> Value {
    Value low = arith::TruncIOp::create(builder, loc, i16, bits);
    low = arith::BitcastOp::create(builder, loc, f16, low);
    return arith::ExtFOp::create(builder, loc, f32, low);
  };
  Value high = arith::ShRUIOp::create(
      builder, loc, word, splatInt(builder, loc, 16, word.getType()));
  return {half(word), half(high)};
}

Value buildEncode(OpBuilder &builder, Location loc, Value value, ScaleZero pair,
                  int64_t bits) {
  Arithmetic a{builder, loc, value.getType()};
  Value code = a.divide(a.subtract(value, pair.zero), pair.scale);
  code = a.least(a.greatest(code, a.number(0.0)),
                 a.number(static_cast<double>((1 << bits) - 1)));
  code = math::RoundEvenOp::create(builder, loc, code);
  return arith::FPToSIOp::create(builder, loc, a.shaped(builder.getI32Type()),
                                 code);
}

Value buildDecode(OpBuilder &builder, Location loc, Value word, unsigned slot,
                  int64_t bits) {
  Type i32 = word.getType();
  const unsigned perWord = 32 / bits;
  if (slot)
    word = arith::ShRUIOp::create(builder, loc, word,
                                  splatInt(builder, loc, slot * bits, i32));
  if (slot + 1 != perWord)
    word = arith::AndIOp::create(builder, loc, word,
                                 splatInt(builder, loc, (1 << bits) - 1, i32));
  return arith::SIToFPOp::create(builder, loc,
                                 shapedLike(builder.getF32Type(), i32), word);
}

} // namespace kvc::kv::affine
