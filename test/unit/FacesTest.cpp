//===- FacesTest.cpp - a point's definition and its generated code agree --===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a point builds is evaluated by folding, and must be, to the bit, what
// its definition gives. CodingTest does the same for codes with scales.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "dialect/KVDialect.h"
#include "dialect/precision/Affine.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace kvc::test;
using namespace kvc::kv;

namespace {

// By libc++ with newer SDKs of Apple's, <cfloat> has no macros of these once
// <cmath> was there.
constexpr float greatest = std::numeric_limits<float>::max(),
                smallest = std::numeric_limits<float>::denorm_min();

void counts() {
  Type f16 = Float16Type::get(context);
  for (int64_t flush : {1, 4, 128})
    for (int64_t residual : {0, 6, 128}) {
      PrecisionAttrInterface points[] = {
          AffineChannelAttr::get(context, 4, flush, flush, residual, f16),
          AffineTokenAttr::get(context, 4, 5, flush, residual, f16),
          FloatPrecisionAttr::get(context, Float32Type::get(context))};
      for (PrecisionAttrInterface point : points)
        for (int64_t tokens :
             {0,   1,   3,   4,   5,   6,   7,   9,   10,  11,
              127, 128, 129, 130, 134, 138, 255, 256, 257, 1 << 30}) {
          Evaluator at;
          CHECK_EQ(at.integer(point.buildCodedTokens(at.builder, at.loc,
                                                     at.index(tokens))),
                   point.codedTokens(tokens));
        }
    }
  TimeAttrInterface times[] = {
      AllAttr::get(context, 3, 1000), AllAttr::get(context, 0, 1),
      WindowAttr::get(context, 4, 12), WindowAttr::get(context, 0, 1)};
  for (TimeAttrInterface time : times)
    for (int64_t seen : {0, 1, 3, 4, 5, 12, 15, 16, 17, 1 << 30}) {
      Evaluator at;
      CHECK_EQ(
          at.integer(time.buildFirstLive(at.builder, at.loc, at.index(seen))),
          time.firstLive(seen));
    }
  auto rope =
      RopeAttr::get(context, FloatAttr::get(Float64Type::get(context), 1e5), 8,
                    "half", ScalingAttr());
  PositionAttrInterface positions[] = {AbsoluteAttr::get(context, rope),
                                       InCacheAttr::get(context, rope),
                                       InCacheAttr::get(context, RopeAttr())};
  for (PositionAttrInterface position : positions)
    for (unsigned rotation = 0; rotation < position.getIndices(); ++rotation)
      for (int64_t evicted : {0, 1, 300}) {
        Evaluator at;
        Value built = position.buildQueryIndex(
            at.builder, at.loc, rotation, at.index(1000), at.index(evicted));
        CHECK_EQ(at.integer(built),
                 position.queryIndex(rotation, 1000, evicted));
      }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

bool same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// A float type worked out by hand: what its bits stand for.
struct HandFloat {
  FloatType type;
  int fraction, bias;
  uint32_t infinity; ///< bits; the largest finite value lies before it

  double value(uint32_t bits) const {
    const int exponent = static_cast<int>((bits & 0x7fff) >> fraction);
    const uint32_t rest = bits & ((1u << fraction) - 1);
    const double magnitude =
        exponent == 0
            ? std::ldexp(rest, 1 - bias - fraction)
            : std::ldexp(rest + (1u << fraction), exponent - bias - fraction);
    return bits & 0x8000 ? -magnitude : magnitude;
  }
};

/// `value` kept as a float must be `bits`; with `built` by both faces.
bool checkFloat(PrecisionAttrInterface point, float value, uint32_t bits,
                int64_t saturated, bool built) {
  const CodedBlock block = point.encode(value);
  bool good = CHECK_EQ(block.codes[0], bits);
  good &= CHECK_EQ(block.saturated, saturated);
  if (built) {
    Evaluator at;
    Value count;
    Value code =
        point.buildEncode(at.builder, at.loc, at.number(value), {}, &count);
    good &= CHECK_EQ(at.bits(code), bits);
    good &= CHECK_EQ(count ? at.integer(count) : 0, saturated);
  }
  if (!good)
    std::cerr << std::hexfloat << "  in " << value << std::defaultfloat << "\n";
  return good;
}

/// Every pattern; every value half way between two, and beside it.
void halves(const HandFloat &hand) {
  PrecisionAttrInterface point = FloatPrecisionAttr::get(context, hand.type);
  CHECK_EQ(point.getElementBits(), 16u);
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7fff) >= hand.infinity)
      continue;
    const double value = hand.value(bits);
    CHECK(same(point.decode(bits, {}), value));
    CHECK(same(point.read(bits, {}), value));
    // The other slot and what is above do not count.
    Evaluator at;
    const unsigned slot = bits % 2;
    Value word = at.word(slot ? bits << 16 | 0x1234 : bits | 0xabcd0000);
    Value number = point.buildDecode(at.builder, at.loc, word, slot);
    CHECK(same(at.real(number), value));
    checkFloat(point, static_cast<float>(value), bits, 0, true);
  }
  for (uint32_t sign : {0u, 0x8000u})
    for (uint32_t bits = 0; bits + 1 < hand.infinity; ++bits) {
      const double low = hand.value(bits), high = hand.value(bits + 1);
      const float middle = static_cast<float>((low + high) / 2);
      const float side = sign ? -1 : 1;
      // Subnormal numbers, the borders of each exponent, and some between.
      const bool built = bits < 8 || bits % 64 < 2 || bits % 64 == 63;
      checkFloat(point, side * middle, sign | (bits + bits % 2), 0, built);
      checkFloat(point, side * std::nextafter(middle, 0.0f), sign | bits, 0,
                 built);
      checkFloat(point, side * std::nextafter(middle, INFINITY),
                 sign | (bits + 1), 0, built);
    }
  // Above the largest a value saturates, however it would be rounded.
  const uint32_t most = hand.infinity - 1;
  const auto largest = static_cast<float>(hand.value(most));
  for (float value : {std::nextafter(largest, INFINITY), greatest}) {
    checkFloat(point, value, most, 1, true);
    checkFloat(point, -value, 0x8000 | most, 1, true);
  }
  checkFloat(point, smallest, 0, 0, true);
  checkFloat(point, -smallest, 0x8000, 0, true);
}

void floats() {
  halves({Float16Type::get(context), 10, 15, 0x7c00});
  halves({BFloat16Type::get(context), 7, 127, 0x7f80});
  PrecisionAttrInterface half =
      FloatPrecisionAttr::get(context, Float16Type::get(context));
  for (float value : {65505.0f, 65519.0f, 65520.0f, 0x1p56f})
    checkFloat(half, value, 0x7bff, 1, true);
  PrecisionAttrInterface plain =
      FloatPrecisionAttr::get(context, Float32Type::get(context));
  for (float value : {0.0f, -0.0f, 1.5f, -0x1p56f, smallest, greatest}) {
    checkFloat(plain, value, std::bit_cast<uint32_t>(value), 0, true);
    Evaluator at;
    Value word = at.word(std::bit_cast<uint32_t>(value));
    CHECK(same(at.real(plain.buildDecode(at.builder, at.loc, word, 0)), value));
  }
}

/// What the point builds of a dot product.
float build(ScoreAttrInterface point, float dot, ScoreAt where) {
  Evaluator at;
  SmallVector<Value> numbers;
  const HeadNumbers heads = point.getHeadNumbers();
  if (!heads.empty())
    for (double number : heads[where.head])
      numbers.push_back(at.number(static_cast<float>(number)));
  return at.real(
      point.buildLogit(at.builder, at.loc, at.number(dot), numbers,
                       at.word(static_cast<uint32_t>(where.distance))));
}

FloatAttr f64(double value) {
  return FloatAttr::get(Float64Type::get(context), value);
}

void scores() {
  ScoreAttrInterface plain = PlainAttr::get(context, f64(0.125));
  CHECK_EQ(build(plain, 3, {0, 9}), static_cast<float>(plain.logit(3, {0, 9})));
  ScoreAttrInterface sinks = LearnedSinksAttr::get(context);
  CHECK_EQ(build(sinks, 3, {0, 9}), 3.0f);
}

/// One rounding besides what five of the dot product lose by the slope, as
/// Softcap.cpp says; exact where s is small beside the cap, never beyond it.
void softcap() {
  for (double cap : {1e-30, 0.03, 1.0, 50.0, 3e4, 1e30}) {
    ScoreAttrInterface point = SoftcapAttr::get(context, f64(cap));
    for (double x :
         {0.0,   1e-30, 1e-6,  1e-3,  0.01, 0.1, 0.3,  0.5,  0.7,    0.9,
          0.999, 1.0,   1.001, 1.2,   1.5,  2.0, 3.0,  5.0,  8.0,    9.5,
          19.,   21.0,  44.0,  100.0, 1e3,  1e6, 1e20, 1e60, 0x1p126})
      for (double sign : {1.0, -1.0}) {
        const float dot =
            static_cast<float>(sign * std::min(x * cap, 0x1.8p126));
        const double want = point.logit(dot, {0, 0});
        const double got = build(point, dot, {0, 0});
        const double tanh = std::fabs(want / cap);
        const double lost = 5 * std::fabs(dot) * tanh * tanh;
        // A subnormal cap's own rounding is above u.
        CHECK(std::fabs(got - want) <=
              0x1p-24 * (lost + 1.2 * std::fabs(want)) + 0x1p-149);
        CHECK(std::fabs(got) <= static_cast<float>(cap));
        CHECK(dot == 0 || std::signbit(got) == std::signbit(dot));
      }
    CHECK_EQ(build(point, static_cast<float>(1e-4 * cap), {0, 0}),
             static_cast<float>(1e-4 * cap));
  }
}

/// One rounding of the result, however large slope and distance are.
void alibi() {
  const double slopes[] = {0.0, 0.5, 1.0 / 3, std::exp2(-1.6), 0.1, 1e4, 1e28};
  ScoreAttrInterface point = AlibiAttr::get(
      context, DenseF64ArrayAttr::get(context, llvm::ArrayRef(slopes)));
  for (auto [head, slope] : llvm::enumerate(slopes))
    for (int64_t distance :
         {0, 1, 2, 127, 4095, 16777215, 16777217, 99999999, 100000001,
          123456789, 2147483519, 2147483521, 2147483647})
      for (double rest : {0.0, 1.0, -3.7, 0.001}) {
        const double far = slope * static_cast<double>(distance);
        // A dot product that nearly makes up for the distance, and one not.
        for (double about : {far + rest, rest}) {
          const float dot = static_cast<float>(about);
          const ScoreAt at{static_cast<int64_t>(head), distance};
          const long double want =
              dot - static_cast<long double>(slope) * distance;
          const double got = build(point, dot, at);
          // Below: what two f32 lack of a slope.
          CHECK(std::fabs(got - static_cast<double>(want)) <=
                0x1.01p-24 * std::fabs(static_cast<double>(want)) +
                    0x1p-44 * far);
        }
      }
}

} // namespace

int main() {
  MLIRContext local;
  local.loadDialect<KVDialect, arith::ArithDialect, math::MathDialect>();
  context = &local;
  counts();
  floats();
  scores();
  softcap();
  alibi();
  return kvc::test::checkResult();
}
