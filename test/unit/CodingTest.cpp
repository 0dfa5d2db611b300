//===- CodingTest.cpp - how codes are made, and how they break ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes, scales and zeros of both faces: against each other, and against what
// another program found in exact rational numbers, rounded as semantics.md
// says.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "dialect/KVDialect.h"
#include "dialect/KVFloats.h"
#include "dialect/precision/Affine.h"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

using namespace kvc::test;
using namespace kvc::kv;

namespace {

std::vector<Type> types() {
  return {Float16Type::get(context), BFloat16Type::get(context),
          Float32Type::get(context)};
}

bool same(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Codes a block both ways.
void check(PrecisionAttrInterface point, llvm::ArrayRef<float> values) {
  const CodedBlock want = point.encode(values);
  const unsigned bits = point.getElementBits();
  Evaluator at;
  float least = values[0], greatest = values[0];
  for (float value : values) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  BuiltPair pair = point.buildPair(at.builder, at.loc, at.number(least),
                                   at.number(greatest));
  CHECK_EQ(pair.words.size(), point.getPairWords());
  CHECK_EQ(at.integer(pair.saturated), want.saturated);
  ScaleZero unpacked = point.buildUnpackPair(at.builder, at.loc, pair.words);
  bool good = CHECK(same(at.real(unpacked.scale), want.pair.scale));
  good &= CHECK(same(at.real(unpacked.zero), want.pair.zero));
  // The codes fill a word, slot by slot.
  uint32_t word = 0;
  const unsigned perWord = 32 / bits;
  for (unsigned i = 0; i < values.size(); ++i) {
    Value saturated;
    Value code = point.buildEncode(at.builder, at.loc, at.number(values[i]),
                                   unpacked, &saturated);
    good &= CHECK_EQ(at.bits(code), want.codes[i]);
    good &= CHECK(!saturated);
    if (i < perWord)
      word |= want.codes[i] << (i * bits);
  }
  for (unsigned i = 0; i < values.size() && i < perWord; ++i) {
    Value number = point.buildDecode(at.builder, at.loc, at.word(word), i);
    good &= CHECK_EQ(at.real(number), static_cast<float>(want.codes[i]));
  }
  // No code lies further than half a step from its value, where it could be
  // reached at all.
  for (unsigned i = 0; i < values.size() && !want.saturated; ++i)
    good &=
        CHECK(std::fabs(point.decode(want.codes[i], want.pair) - values[i]) <=
              want.pair.scale * 0.50001 + std::fabs(values[i]) * 0x1p-23);
  if (!good) {
    std::cerr << std::hexfloat << "  in";
    for (float value : values)
      std::cerr << " " << value;
    std::cerr << std::defaultfloat << "\n";
  }
}

/// Both faces on blocks of all kinds.
void faces() {
  std::vector<std::vector<float>> blocks{{1, 1, 1},
                                         {300.1f},
                                         {-1, -2, -3, 2},
                                         {0, 15, 0.5f, 1.5f, 2.5f, 14.5f},
                                         {299.7f, 300, 300.3f},
                                         {65504, 65504},
                                         {0x1.ffc002p15f},
                                         {-0x1.ffc002p15f, -65504},
                                         {70000, 70001},
                                         {-70000, 70000},
                                         {-1e9f, 1e9f},
                                         {0, 982560},
                                         {0, 982560.0625f},
                                         {-0x1p56f, 0x1p56f},
                                         {1e-6f, 2e-6f},
                                         {1e-30f},
                                         {-1e-30f},
                                         {-0.0f, -0.0f},
                                         {-0.0f, 1},
                                         {-1, -0.0f},
                                         {0x1p-149f, -0x1p-149f},
                                         {0x1p-24f, -0x1p-24f, 0x1.8p-24f},
                                         {0, 0x1.ep-11f}};
  // Random ones of every magnitude that is taken.
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    std::vector<float> block(1 + random() % 8);
    const float size = std::ldexp(1.0f, static_cast<int>(random() % 140) - 84);
    const float mean =
        random() % 3 ? 0 : size * static_cast<float>(random() % 1000);
    for (float &value : block)
      value = mean + size * std::normal_distribution<float>()(random);
    for (float &value : block)
      value = std::clamp(value, -0x1p56f, 0x1p56f);
    blocks.push_back(block);
  }
  for (Type scales : types())
    for (int64_t bits : {8, 4, 2})
      for (const auto &block : blocks) {
        check(AffineChannelAttr::get(context, bits, 8, 8, 0, scales), block);
        check(AffineTokenAttr::get(context, bits, 8, 1, 0, scales), block);
      }
}

/// What one block becomes in one precision.
struct Coded {
  const char *type;
  int64_t bits;
  float zero, scale;
  std::vector<uint32_t> codes;
  int64_t saturated;
};
struct Block {
  const char *name;
  std::vector<float> values;
  std::vector<Coded> coded;
};

/// The ways in which codes break.
const std::vector<Block> &brokenBlocks() {
  static const std::vector<Block> blocks{
      {"a constant channel",
       {0.75f, 0.75f, 0.75f},
       {
           {"f16", 8, 0x1.8p-1, 0x1p-14, {0, 0, 0}, 0},
           {"f16", 4, 0x1.8p-1, 0x1p-14, {0, 0, 0}, 0},
           {"f16", 2, 0x1.8p-1, 0x1p-14, {0, 0, 0}, 0},
           {"bf16", 8, 0x1.8p-1, 0x1p-126, {0, 0, 0}, 0},
           {"bf16", 4, 0x1.8p-1, 0x1p-126, {0, 0, 0}, 0},
           {"bf16", 2, 0x1.8p-1, 0x1p-126, {0, 0, 0}, 0},
           {"f32", 8, 0x1.8p-1, 0x1p-126, {0, 0, 0}, 0},
           {"f32", 4, 0x1.8p-1, 0x1p-126, {0, 0, 0}, 0},
           {"f32", 2, 0x1.8p-1, 0x1p-126, {0, 0, 0}, 0},
       }},
      {"one that f16 and bf16 cannot hold",
       {0.7f, 0.7f},
       {
           {"f16", 8, 0x1.664p-1, 0x1p-14, {5, 5}, 0},
           {"f16", 4, 0x1.664p-1, 0x1p-14, {5, 5}, 0},
           {"f16", 2, 0x1.664p-1, 0x1.99cp-14, {3, 3}, 0},
           {"bf16", 8, 0x1.66p-1, 0x1.9cp-19, {255, 255}, 0},
           {"bf16", 4, 0x1.66p-1, 0x1.b6p-15, {15, 15}, 0},
           {"bf16", 2, 0x1.66p-1, 0x1.12p-12, {3, 3}, 0},
           {"f32", 8, 0x1.666666p-1, 0x1p-126, {0, 0}, 0},
           {"f32", 4, 0x1.666666p-1, 0x1p-126, {0, 0}, 0},
           {"f32", 2, 0x1.666666p-1, 0x1p-126, {0, 0}, 0},
       }},
      {"a token of zeros of both signs",
       {0.0f, -0.0f},
       {
           {"f16", 8, 0, 0x1p-14, {0, 0}, 0},
           {"f16", 4, 0, 0x1p-14, {0, 0}, 0},
           {"f16", 2, 0, 0x1p-14, {0, 0}, 0},
           {"bf16", 8, 0, 0x1p-126, {0, 0}, 0},
           {"bf16", 4, 0, 0x1p-126, {0, 0}, 0},
           {"bf16", 2, 0, 0x1p-126, {0, 0}, 0},
           {"f32", 8, 0, 0x1p-126, {0, 0}, 0},
           {"f32", 4, 0, 0x1p-126, {0, 0}, 0},
           {"f32", 2, 0, 0x1p-126, {0, 0}, 0},
       }},
      {"one outlier",
       {0.01f, -0.01f, 1000, 0},
       {
           {"f16", 8, -0x1.47cp-7, 0x1.f6p1, {0, 0, 255, 0}, 0},
           {"f16", 4, -0x1.47cp-7, 0x1.0acp6, {0, 0, 15, 0}, 0},
           {"f16", 2, -0x1.47cp-7, 0x1.4d8p8, {0, 0, 3, 0}, 0},
           {"bf16", 8, -0x1.48p-7, 0x1.f6p1, {0, 0, 255, 0}, 0},
           {"bf16", 4, -0x1.48p-7, 67, {0, 0, 15, 0}, 0},
           {"bf16", 2, -0x1.48p-7, 334, {0, 0, 3, 0}, 0},
           {"f32", 8, -0x1.47ae14p-7, 0x1.f5f74p1, {0, 0, 255, 0}, 0},
           {"f32", 4, -0x1.47ae14p-7, 0x1.0aab5ap6, {0, 0, 15, 0}, 0},
           {"f32", 2, -0x1.47ae14p-7, 0x1.4d563p8, {0, 0, 3, 0}, 0},
       }},
      {"a narrow range far from zero",
       {299.7f, 300, 300.3f},
       {
           {"f16", 8, 0x1.2b8p8, 0x1.9b4p-9, {64, 159, 255}, 0},
           {"f16", 4, 0x1.2b8p8, 0x1.b5p-5, {4, 9, 15}, 0},
           {"f16", 2, 0x1.2b8p8, 0x1.114p-2, {1, 2, 3}, 0},
           {"bf16", 8, 298, 0x1.28p-7, {188, 221, 255}, 0},
           {"bf16", 4, 298, 0x1.3cp-3, {11, 13, 15}, 0},
           {"bf16", 2, 298, 0x1.8ap-1, {2, 3, 3}, 0},
           {"f32", 8, 0x1.2bb334p8, 0x1.346464p-9, {0, 128, 255}, 0},
           {"f32", 4, 0x1.2bb334p8, 0x1.47aaaap-5, {0, 8, 15}, 0},
           {"f32", 2, 0x1.2bb334p8, 0x1.999556p-3, {0, 2, 3}, 0},
       }},
      {"beyond f16",
       {-70000, 70000, 0},
       {
           {"f16", 8, -65504, 0x1.09cp9, {0, 255, 123}, 1},
           {"f16", 4, -65504, 9040, {0, 15, 7}, 1},
           {"f16", 2, -65504, 45184, {0, 3, 1}, 1},
           {"bf16", 8, -70144, 552, {0, 254, 127}, 0},
           {"bf16", 4, -70144, 9344, {0, 15, 8}, 0},
           {"bf16", 2, -70144, 46848, {0, 3, 1}, 0},
           {"f32", 8, -70000, 0x1.128282p9, {0, 255, 128}, 0},
           {"f32", 4, -70000, 0x1.23aaaap13, {0, 15, 8}, 0},
           {"f32", 2, -70000, 0x1.6c9556p15, {0, 3, 2}, 0},
       }},
      {"zero alone beyond f16",
       {70000, 70001},
       {
           {"f16", 8, 65504, 0x1.1a4p4, {255, 255}, 1},
           {"f16", 4, 65504, 300, {15, 15}, 1},
           {"f16", 2, 65504, 1499, {3, 3}, 1},
           {"bf16", 8, 69632, 0x1.74p0, {253, 254}, 0},
           {"bf16", 4, 69632, 0x1.8ap4, {15, 15}, 0},
           {"bf16", 2, 69632, 123, {3, 3}, 0},
           {"f32", 8, 70000, 0x1.010102p-8, {0, 255}, 0},
           {"f32", 4, 70000, 0x1.111112p-4, {0, 15}, 0},
           {"f32", 2, 70000, 0x1.555556p-2, {0, 3}, 0},
       }},
      {"the largest that is taken",
       {-0x1p56f, 0x1p56f, 1},
       {
           {"f16", 8, -65504, 65504, {0, 255, 1}, 2},
           {"f16", 4, -65504, 65504, {0, 15, 1}, 2},
           {"f16", 2, -65504, 65504, {0, 3, 1}, 2},
           {"bf16", 8, -0x1p56, 0x1.02p49, {0, 254, 127}, 0},
           {"bf16", 4, -0x1p56, 0x1.12p53, {0, 15, 7}, 0},
           {"bf16", 2, -0x1p56, 0x1.56p55, {0, 3, 1}, 0},
           {"f32", 8, -0x1p56, 0x1.010102p49, {0, 255, 127}, 0},
           {"f32", 4, -0x1p56, 0x1.111112p53, {0, 15, 7}, 0},
           {"f32", 2, -0x1p56, 0x1.555556p55, {0, 3, 2}, 0},
       }},
      {"a subnormal range",
       {0x1p-149f, 0x1.8p-148f, -0x1p-149f},
       {
           {"f16", 8, -0x1p-24, 0x1p-14, {0, 0, 0}, 0},
           {"f16", 4, -0x1p-24, 0x1p-14, {0, 0, 0}, 0},
           {"f16", 2, -0x1p-24, 0x1p-14, {0, 0, 0}, 0},
           {"bf16", 8, -0x1p-133, 0x1p-126, {0, 0, 0}, 0},
           {"bf16", 4, -0x1p-133, 0x1p-126, {0, 0, 0}, 0},
           {"bf16", 2, -0x1p-133, 0x1p-126, {0, 0, 0}, 0},
           {"f32", 8, -0x1p-149, 0x1p-126, {0, 0, 0}, 0},
           {"f32", 4, -0x1p-149, 0x1p-126, {0, 0, 0}, 0},
           {"f32", 2, -0x1p-149, 0x1p-126, {0, 0, 0}, 0},
       }},
      {"a range below the least scale",
       {0, 0x1p-20f, 0x1p-15f},
       {
           {"f16", 8, 0, 0x1p-14, {0, 0, 0}, 0},
           {"f16", 4, 0, 0x1p-14, {0, 0, 0}, 0},
           {"f16", 2, 0, 0x1p-14, {0, 0, 0}, 0},
           {"bf16", 8, 0, 0x1.02p-23, {0, 8, 254}, 0},
           {"bf16", 4, 0, 0x1.12p-19, {0, 0, 15}, 0},
           {"bf16", 2, 0, 0x1.56p-17, {0, 0, 3}, 0},
           {"f32", 8, 0, 0x1.010102p-23, {0, 8, 255}, 0},
           {"f32", 4, 0, 0x1.111112p-19, {0, 0, 15}, 0},
           {"f32", 2, 0, 0x1.555556p-17, {0, 0, 3}, 0},
       }},
      {"alternating signs",
       {1, -1, 1, -1},
       {
           {"f16", 8, -1, 0x1.014p-7, {255, 0, 255, 0}, 0},
           {"f16", 4, -1, 0x1.114p-3, {15, 0, 15, 0}, 0},
           {"f16", 2, -1, 0x1.558p-1, {3, 0, 3, 0}, 0},
           {"bf16", 8, -1, 0x1.02p-7, {254, 0, 254, 0}, 0},
           {"bf16", 4, -1, 0x1.12p-3, {15, 0, 15, 0}, 0},
           {"bf16", 2, -1, 0x1.56p-1, {3, 0, 3, 0}, 0},
           {"f32", 8, -1, 0x1.010102p-7, {255, 0, 255, 0}, 0},
           {"f32", 4, -1, 0x1.111112p-3, {15, 0, 15, 0}, 0},
           {"f32", 2, -1, 0x1.555556p-1, {3, 0, 3, 0}, 0},
       }},
      {"halves go to even",
       {0, 0.5f, 1.5f, 2.5f, 14.5f, 15, 3},
       {
           {"f16", 8, 0, 0x1.e2p-5, {0, 8, 25, 42, 246, 255, 51}, 0},
           {"f16", 4, 0, 1, {0, 0, 2, 2, 14, 15, 3}, 0},
           {"f16", 2, 0, 5, {0, 0, 0, 0, 3, 3, 1}, 0},
           {"bf16", 8, 0, 0x1.e2p-5, {0, 8, 25, 42, 246, 255, 51}, 0},
           {"bf16", 4, 0, 1, {0, 0, 2, 2, 14, 15, 3}, 0},
           {"bf16", 2, 0, 5, {0, 0, 0, 0, 3, 3, 1}, 0},
           {"f32", 8, 0, 0x1.e1e1e2p-5, {0, 8, 26, 42, 246, 255, 51}, 0},
           {"f32", 4, 0, 1, {0, 0, 2, 2, 14, 15, 3}, 0},
           {"f32", 2, 0, 5, {0, 0, 0, 0, 3, 3, 1}, 0},
       }},
      {"a group of one",
       {-3.1f},
       {
           {"f16", 8, -0x1.8dp1, 0x1p-14, {26}, 0},
           {"f16", 4, -0x1.8dp1, 0x1.b5p-14, {15}, 0},
           {"f16", 2, -0x1.8dp1, 0x1.114p-11, {3}, 0},
           {"bf16", 8, -0x1.8ep1, 0x1.36p-15, {254}, 0},
           {"bf16", 4, -0x1.8ep1, 0x1.48p-11, {15}, 0},
           {"bf16", 2, -0x1.8ep1, 0x1.9ap-9, {3}, 0},
           {"f32", 8, -0x1.8cccccp1, 0x1p-126, {0}, 0},
           {"f32", 4, -0x1.8cccccp1, 0x1p-126, {0}, 0},
           {"f32", 2, -0x1.8cccccp1, 0x1p-126, {0}, 0},
       }},
      {"zero is not -0",
       {-0.0f, 1},
       {
           {"f16", 8, 0, 0x1.014p-8, {0, 255}, 0},
           {"f16", 4, 0, 0x1.114p-4, {0, 15}, 0},
           {"f16", 2, 0, 0x1.558p-2, {0, 3}, 0},
           {"bf16", 8, 0, 0x1.02p-8, {0, 254}, 0},
           {"bf16", 4, 0, 0x1.12p-4, {0, 15}, 0},
           {"bf16", 2, 0, 0x1.56p-2, {0, 3}, 0},
           {"f32", 8, 0, 0x1.010102p-8, {0, 255}, 0},
           {"f32", 4, 0, 0x1.111112p-4, {0, 15}, 0},
           {"f32", 2, 0, 0x1.555556p-2, {0, 3}, 0},
       }},
  };
  return blocks;
}

Type typeOf(StringRef name) {
  return name == "f16" ? types()[0] : name == "bf16" ? types()[1] : types()[2];
}

void breaks() {
  for (const Block &block : brokenBlocks())
    for (const Coded &want : block.coded) {
      PrecisionAttrInterface point =
          AffineTokenAttr::get(context, want.bits, 8, 1, 0, typeOf(want.type));
      const CodedBlock got = point.encode(block.values);
      bool good = CHECK(same(got.pair.zero, want.zero));
      good &= CHECK(same(got.pair.scale, want.scale));
      good &= CHECK(std::vector<uint32_t>(got.codes.begin(), got.codes.end()) ==
                    want.codes);
      good &= CHECK_EQ(got.saturated, want.saturated);
      if (!good)
        std::cerr << "  in " << block.name << ", scales " << want.type << ", "
                  << want.bits << " bits: " << std::hexfloat << got.pair.zero
                  << " " << got.pair.scale << std::defaultfloat << "\n";
      check(point, block.values);
    }
}

/// Every f32 that is half way between two of a 16-bit type, or beside one, is
/// rounded down and up to its neighbours.
void directed() {
  for (Type type : {types()[0], types()[1]}) {
    const uint32_t infinity = type.isF16() ? 0x7c00 : 0x7f80;
    for (uint32_t sign : {0u, 0x8000u})
      for (uint32_t bits = 0; bits + 1 < infinity; bits += 1 + bits / 64) {
        const float low = widen(sign | bits, type);
        const float high = widen(sign | (bits + 1), type);
        const float within[] = {std::nextafter(low, high), (low + high) / 2,
                                std::nextafter(high, low)};
        for (float value : within)
          for (bool up : {false, true}) {
            // Magnitudes grow outwards: up is inwards below 0.
            const uint32_t want = sign | (bits + (up != (sign != 0)));
            // Exact numbers stay.
            int64_t count = 0;
            CHECK_EQ(narrowDirected(low, type, up, count), sign | bits);
            CHECK_EQ(narrowDirected(value, type, up, count), want);
            CHECK_EQ(count, 0);
            Evaluator at;
            Value beyond;
            Value built = buildNarrowDirected(
                at.builder, at.loc, at.number(value), type, up, beyond);
            CHECK_EQ(at.bits(built) & 0xffff, want);
            CHECK_EQ(at.integer(beyond), 0);
          }
      }
    // Beyond the largest it is the largest, and counts.
    const float largest = largestFinite(type);
    for (float side : {1.0f, -1.0f})
      for (bool up : {false, true}) {
        const float value = side * std::nextafter(largest, INFINITY);
        int64_t count = 0;
        CHECK(same(widen(narrowDirected(value, type, up, count), type),
                   side * largest));
        CHECK_EQ(count, 1);
        Evaluator at;
        Value beyond;
        Value built = buildNarrowDirected(at.builder, at.loc, at.number(value),
                                          type, up, beyond);
        CHECK_EQ(at.bits(built) & 0xffff,
                 (side < 0 ? 0x8000u : 0u) | (infinity - 1));
        CHECK_EQ(at.integer(beyond), 1);
      }
  }
}

} // namespace

int main() {
  MLIRContext local;
  local.loadDialect<KVDialect, arith::ArithDialect, math::MathDialect>();
  context = &local;
  faces();
  breaks();
  directed();
  return kvc::test::checkResult();
}
