//===- Affine.cpp - what affine codes have in common ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"
#include "dialect/KVFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace kvc::kv::affine {

/// The smallest normal number of a type: no scale is below it.
static float leastNormal(Type type) {
  return type.isF16() ? 0x1p-14f : 0x1p-126f;
}

LogicalResult verifyCodes(llvm::function_ref<InFlightDiagnostic()> emitError,
                          int64_t bits, Type scales) {
  if (bits != 8 && bits != 4 && bits != 2)
    return emitError() << "codes have 8, 4 or 2 bits, not " << bits;
  if (!isFloatType(scales))
    return emitError() << "scales are f16, bf16 or f32, not " << scales;
  return success();
}

LogicalResult verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     int64_t bits, int64_t group, int64_t flush,
                     int64_t residual, Type scales) {
  if (failed(verifyCodes(emitError, bits, scales)))
    return failure();
  if (group < 1 || group > INT32_MAX)
    return emitError() << "group is 1 to " << INT32_MAX << ", not " << group;
  if (flush < 1 || flush > INT32_MAX)
    return emitError() << "flush is 1 to " << INT32_MAX << ", not " << flush;
  if (residual < 0 || residual > INT32_MAX)
    return emitError() << "residual is 0 to " << INT32_MAX << ", not "
                       << residual;
  return success();
}

//===----------------------------------------------------------------------===//
// Definition
//===----------------------------------------------------------------------===//

int64_t codedTokens(int64_t tokens, int64_t flush, int64_t residual) {
  return std::max<int64_t>(0, tokens - residual) / flush * flush;
}

double leastScale(Type scales) { return leastNormal(scales); }

CodedBlock encode(ArrayRef<float> values, int64_t bits, Type scales) {
  CodedBlock block;
  float least = values.front() + 0.0f, greatest = least;
  for (float value : values) {
    least = std::min(least, value + 0.0f);
    greatest = std::max(greatest, value + 0.0f);
  }
  const float top = static_cast<float>((1 << bits) - 1);
  auto round = [&](float value, bool up) {
    return widen(narrowDirected(value, scales, up, block.saturated), scales);
  };
  const float zero = round(least, /*up=*/false);
  // The differences and quotients below are single f32 operations.
  volatile float range = greatest - zero;
  volatile float step = range / top;
  const float scale =
      round(std::max(leastNormal(scales), float(step)), /*up=*/true);
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
};
} // namespace

BuiltPair buildPair(OpBuilder &builder, Location loc, Value least,
                    Value greatest, int64_t bits, Type scales) {
  Arithmetic a{builder, loc, least.getType()};
  Type i32 = a.shaped(builder.getI32Type());
  // x + 0 makes -0 to +0 and leaves the rest.
  least = a.add(least, a.number(0.0));
  greatest = a.add(greatest, a.number(0.0));

  Value zeroBeyond, scaleBeyond;
  Value zeroBits = buildNarrowDirected(builder, loc, least, scales,
                                       /*up=*/false, zeroBeyond);
  Value zero = buildWiden(
      builder, loc,
      arith::BitcastOp::create(builder, loc, a.shaped(scales), zeroBits));
  Value step = a.divide(a.subtract(greatest, zero),
                        a.number(static_cast<double>((1 << bits) - 1)));
  step = a.greatest(step, a.number(leastNormal(scales)));
  Value scaleBits = buildNarrowDirected(builder, loc, step, scales,
                                        /*up=*/true, scaleBeyond);

  BuiltPair pair;
  pair.saturated = arith::AddIOp::create(builder, loc, zeroBeyond, scaleBeyond);
  if (scales.isF32()) {
    pair.words = {scaleBits, zeroBits};
    return pair;
  }
  Value low = arith::ExtUIOp::create(builder, loc, i32, scaleBits);
  Value high = arith::ExtUIOp::create(builder, loc, i32, zeroBits);
  high = arith::ShLIOp::create(builder, loc, high,
                               splatInt(builder, loc, 16, i32));
  pair.words.push_back(arith::OrIOp::create(builder, loc, low, high));
  return pair;
}

ScaleZero buildUnpackPair(OpBuilder &builder, Location loc, ValueRange words,
                          Type scales) {
  Type type = shapedLike(scales, words[0].getType());
  if (scales.isF32())
    return {arith::BitcastOp::create(builder, loc, type, words[0]),
            arith::BitcastOp::create(builder, loc, type, words[1])};
  Value word = words[0];
  Type i16 = shapedLike(builder.getI16Type(), word.getType());
  auto half = [&](Value bits) -> Value {
    Value low = arith::TruncIOp::create(builder, loc, i16, bits);
    return buildWiden(builder, loc,
                      arith::BitcastOp::create(builder, loc, type, low));
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
