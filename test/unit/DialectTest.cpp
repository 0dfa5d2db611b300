//===- DialectTest.cpp - the axes' points against written-out numbers -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers here are worked out by hand from the rules in docs/semantics.md, not
// by the code under test.
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "dialect/KVDialect.h"
#include "dialect/precision/Affine.h"
#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <vector>

using namespace kvc::kv;

namespace {

mlir::MLIRContext *context;

struct Coding {
  std::vector<float> values;
  int64_t bits;
  float scale, zero;
  std::vector<uint32_t> codes;
  int64_t saturated;
};

void check(const Coding &want) {
  CodedBlock got =
      affine::encode(want.values, want.bits, mlir::Float16Type::get(context));
  bool good = CHECK_EQ(got.pair.scale, want.scale) &&
              CHECK_EQ(got.pair.zero, want.zero) &&
              CHECK(!std::signbit(got.pair.zero) || got.pair.zero != 0) &&
              CHECK_EQ(got.saturated, want.saturated) &&
              CHECK_EQ(got.codes.size(), want.codes.size());
  for (size_t i = 0; i < want.codes.size() && good; ++i)
    good = CHECK_EQ(got.codes[i], want.codes[i]);
  if (!good)
    std::cerr << "  in the block that begins with " << want.values[0] << "\n";
}

/// 2^-14, the least scale: f16's smallest normal number.
constexpr float Least = 0x1p-14f;

void coding() {
  // A constant block: no range, so the least scale, and codes of 0.
  check({{1, 1, 1}, 4, Least, 1, {0, 0, 0}, 0});
  // A constant that f16 cannot hold: f16s lie 1/4 apart there. The step,
  // (300.1 - 300) / 15, is 1747.7 of the 2^-18 that f16s lie apart there.
  check({{300.1f, 300.1f}, 4, 1748 * 0x1p-18f, 300, {15, 15}, 0});
  // 5 / 15 is 1365.3 * 2^-12: rounded up. (-1 + 3) / 0.33350 = 5.997.
  check({{-1, -2, -3, 2}, 4, 1366 * 0x1p-12f, -3, {6, 3, 0, 15}, 0});
  // 2 / 255 is 1028.02 * 2^-17. 1 / 0.0078506 = 127.4, 2 / ... = 254.8.
  check({{-1, 0, 1}, 8, 1029 * 0x1p-17f, -1, {0, 127, 255}, 0});
  // Halves go to the even code.
  check({{0, 15, 0.5f, 1.5f, 2.5f, 14.5f}, 4, 1, 0, {0, 15, 0, 2, 2, 14}, 0});
  // Mean 300, deviation 0.3: zero is 299.5, 1/4 apart and down; the step
  // 0.79998779 / 255 is 1644.8 * 2^-19.
  check({{299.7f, 300, 300.3f}, 8, 1645 * 0x1p-19f, 299.5f, {64, 159, 255}, 0});
}

void limits() {
  // The largest f16 is a zero like any other; the next f32 saturates.
  check({{65504, 65504}, 4, Least, 65504, {0, 0}, 0});
  // Its step, 2^-8 / 15, is 1092.3 * 2^-22.
  check({{0x1.ffc002p15f}, 4, 1093 * 0x1p-22f, 65504, {15}, 1});
  // 4497 / 15 = 299.8, up to 300.
  check({{70000, 70001}, 4, 300, 65504, {15, 15}, 1});
  // 135504 / 15 = 9033.6, up by 8s to 9040. -70000 is clamped.
  check({{-70000, 70000}, 4, 9040, -65504, {0, 15}, 1});
  // Both; the clamped codes do not count.
  check({{-1e9f, 1e9f}, 4, 65504, -65504, {0, 15}, 2});
  // 15 * 65504 is the widest range that needs no saturation.
  check({{0, 982560}, 4, 65504, 0, {0, 15}, 0});
  check({{0, 982560.0625f}, 4, 65504, 0, {0, 15}, 1});
  // Magnitudes up to 2^56 are taken.
  check({{-0x1p56f, 0x1p56f}, 8, 65504, -65504, {0, 255}, 2});
}

void small() {
  // Zeros may be subnormal, scales not. 1e-6 is 16.8 * 2^-24.
  check({{1e-6f, 2e-6f}, 4, Least, 16 * 0x1p-24f, {0, 0}, 0});
  // Down to +0, and down to the least subnormal below.
  check({{1e-30f}, 4, Least, 0, {0}, 0});
  check({{-1e-30f}, 4, Least, -0x1p-24f, {0}, 0});
  check({{0x1p-149f, 0}, 4, Least, 0, {0, 0}, 0});
  // -0 counts as +0.
  check({{-0.0f, -0.0f}, 4, Least, 0, {0, 0}, 0});
  check({{-0.0f, 1}, 4, 1093 * 0x1p-14f, 0, {0, 15}, 0});
  // 1 / 15 is 1092.3 * 2^-14. 1 / 0.066711 = 14.99.
  check({{-1, -0.0f}, 4, 1093 * 0x1p-14f, -1, {0, 15}, 0});
  // A range at the least scale: 15 * 2^-14, and a little less.
  check({{0, 15 * Least}, 4, Least, 0, {0, 15}, 0});
  check({{0, 14 * Least}, 4, Least, 0, {0, 14}, 0});
}

void decoding() {
  // Exactly, and as f32: 3 * 1025 * 2^-24 is 1.5015 of the 2^-13 that f32s lie
  // apart at 1024.
  Pair pair{1025 * 0x1p-24f, 1024};
  CHECK_EQ(affine::decode(3, pair), 1024 + 3075 * 0x1p-24);
  CHECK_EQ(affine::read(3, pair), 1024 + 0x1p-12f);
  CHECK_EQ(affine::read(0, pair), 1024.0f);
  CHECK_EQ(affine::read(15, {1366 * 0x1p-12f, -3}), 2.00244140625f);
  auto plain =
      FloatPrecisionAttr::get(context, mlir::Float32Type::get(context));
  CodedBlock block = plain.encode({1.0f, -0.0f, -2.5f});
  CHECK_EQ(block.codes[0], 0x3f800000u);
  CHECK_EQ(block.codes[1], 0x80000000u);
  CHECK_EQ(block.codes[2], 0xc0200000u);
  CHECK_EQ(plain.decode(0xc0200000u, {}), -2.5);
  CHECK_EQ(plain.read(0xc0200000u, {}), -2.5f);
  CHECK_EQ(block.saturated, 0);
}

void coded() {
  mlir::Type f16 = mlir::Float16Type::get(context);
  struct Case {
    int64_t flush, residual, tokens, coded;
  };
  for (auto [flush, residual, tokens, coded] : std::vector<Case>{
           {128, 0, 0, 0},     {128, 0, 1, 0},     {128, 0, 127, 0},
           {128, 0, 128, 128}, {128, 0, 129, 128}, {128, 0, 255, 128},
           {128, 0, 256, 256}, {1, 128, 0, 0},     {1, 128, 127, 0},
           {1, 128, 128, 0},   {1, 128, 129, 1},   {1, 128, 130, 2},
           {4, 6, 0, 0},       {4, 6, 6, 0},       {4, 6, 9, 0},
           {4, 6, 10, 4},      {4, 6, 11, 4},      {4, 6, 13, 4},
           {4, 6, 14, 8},      {1, 0, 0, 0},       {1, 0, 1, 1}}) {
    CHECK_EQ(affine::codedTokens(tokens, flush, residual), coded);
    auto channel =
        AffineChannelAttr::get(context, 4, flush, flush, residual, f16);
    auto token = AffineTokenAttr::get(context, 4, 5, flush, residual, f16);
    CHECK_EQ(channel.codedTokens(tokens), coded);
    CHECK_EQ(token.codedTokens(tokens), coded);
    // A step appends before it codes: the most that wait are found by trying.
    int64_t most = 0;
    for (int64_t t = 1; t < 600; ++t)
      most = std::max(most, t - affine::codedTokens(t - 1, flush, residual));
    CHECK_EQ(channel.mostOriginals(), most);
    CHECK_EQ(token.mostOriginals(), most);
    CHECK_EQ(channel.getBlock(12)->tokens, flush);
    CHECK_EQ(channel.getBlock(12)->channels, 1);
    CHECK_EQ(token.getBlock(12)->tokens, 1);
    CHECK_EQ(token.getBlock(12)->channels, 5);
    CHECK_EQ(token.getBlock(3)->channels, 3); // not more than the head has
  }
  auto plain =
      FloatPrecisionAttr::get(context, mlir::Float32Type::get(context));
  CHECK_EQ(plain.codedTokens(7), 7);
  CHECK_EQ(plain.mostOriginals(), 0);
  CHECK(!plain.keepsOriginals() && !plain.getBlock(12));
}

/// Holds a point of the time axis against the tokens that `wanted(t, seen)`
/// says are stored.
template <typename Wanted>
void check(TimeAttrInterface time, int64_t longest, Wanted wanted) {
  int64_t before = time.firstLive(0);
  for (int64_t seen = 0; seen <= longest; ++seen) {
    int64_t stored = 0, beyond = 0;
    for (int64_t t = -1; t <= seen + 1; ++t) {
      bool live = t >= 0 && t < seen && wanted(t, seen);
      CHECK_EQ(time.isLive(t, seen), live);
      stored += live;
      beyond += live && t >= time.getSinks();
    }
    CHECK_EQ(time.stored(seen), stored);
    CHECK(beyond <= time.getCapacity());
    CHECK(time.firstLive(seen) >= std::max(before, time.getSinks()));
    before = time.firstLive(seen);
  }
}

void time() {
  auto window = WindowAttr::get(context, 4, 12);
  for (auto [seen, first] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 4}, {1, 4}, {4, 4}, {5, 4}, {16, 4}, {17, 5}, {1000000, 999988}})
    CHECK_EQ(window.firstLive(seen), first);
  CHECK(!window.getLimit());
  for (int64_t sinks : {0, 1, 4})
    for (int64_t size : {1, 2, 12})
      check(WindowAttr::get(context, sinks, size), 40,
            [&](int64_t t, int64_t seen) {
              return t < sinks || t > seen - 1 - size;
            });
  auto all = AllAttr::get(context, 2, 10);
  CHECK_EQ(*all.getLimit(), 10);
  CHECK_EQ(all.getCapacity(), 8);
  check(all, 10, [](int64_t, int64_t) { return true; });
}

void position() {
  auto rope = [&](double theta, int64_t dims) {
    return RopeAttr::get(
        context, mlir::FloatAttr::get(mlir::Float64Type::get(context), theta),
        dims, "half", ScalingAttr());
  };
  auto absolute = AbsoluteAttr::get(context, rope(1e5, 64));
  auto cache = InCacheAttr::get(context, rope(1e5, 64));
  auto none = UnrotatedAttr::get(context);
  // Without a rope distances alone are the cache's.
  auto distances = InCacheAttr::get(context, RopeAttr());
  CHECK_EQ(distances.getRotations(), 0u);
  CHECK_EQ(distances.getPairs(), 0);
  CHECK_EQ(distances.getIndices(), 2u);
  CHECK_EQ(distances.queryIndex(distances.rotationFor(true), 1000, 300), 700);
  CHECK_EQ(distances.queryIndex(distances.rotationFor(false), 1000, 300), 1000);
  CHECK_EQ(none.getIndices(), 1u);
  CHECK_EQ(none.getRotations(), 0u);
  CHECK_EQ(none.getPairs(), 0);
  CHECK_EQ(absolute.getRotations(), 1u);
  for (bool sinks : {false, true})
    CHECK_EQ(absolute.queryIndex(absolute.rotationFor(sinks), 1000, 300), 1000);

  // Positions in the cache: what a query and a key are apart must be what
  // their places in the cache are apart.
  auto window = WindowAttr::get(context, 4, 12);
  for (int64_t p = 0; p < 60; ++p) {
    const int64_t seen = p + 1, evicted = seen - window.stored(seen);
    int64_t place = 0;
    for (int64_t t = 0; t <= p; ++t) {
      if (!window.isLive(t, seen))
        continue;
      const bool sink = t < 4;
      CHECK_EQ(cache.queryIndex(cache.rotationFor(sink), p, evicted) - t,
               window.stored(seen) - 1 - place);
      ++place;
    }
  }

  // 10000^(-2i/4) and 100000^(-2i/64).
  auto few = rope(1e4, 4).getFrequencies();
  CHECK_EQ(few.size(), 2u);
  CHECK_EQ(few[0], 1.0);
  CHECK(std::fabs(few[1] - 0.01) < 1e-17);
  auto many = absolute.getFrequencies();
  CHECK_EQ(many.size(), 32u);
  CHECK_EQ(many[0], 1.0);
  CHECK(std::fabs(many[1] - 0.697830584859866) < 1e-14);
  CHECK(std::fabs(many[16] - 0.00316227766016838) < 1e-16);
  CHECK(std::fabs(many[31] - 1.43301257023696e-05) < 1e-18);
  for (int64_t pair = 0; pair < 32; ++pair)
    CHECK(cache.getPairDims(pair) ==
          std::pair<int64_t, int64_t>(pair, pair + 32));
  CHECK(absolute.getKernelForm() ==
        AbsoluteAttr::get(context, rope(5e5, 64)).getKernelForm());
  CHECK(absolute.getKernelForm() !=
        AbsoluteAttr::get(context, rope(1e5, 62)).getKernelForm());
}

void depthAndScore() {
  CHECK_EQ(OwnAttr::get(context).getOwner(5), 5);
  CHECK(OwnAttr::get(context).stores());
  auto share = ShareAttr::get(context, 3);
  CHECK_EQ(share.getOwner(5), 3);
  CHECK(!share.stores());
  CHECK(share.getKernelForm() == ShareAttr::get(context, 2).getKernelForm());
  auto plain = PlainAttr::get(
      context, mlir::FloatAttr::get(mlir::Float64Type::get(context), 0.125));
  CHECK_EQ(plain.logit(16, {7, 9}), 2.0);
  CHECK_EQ(*plain.getQueryFactor(), 0.125);
  auto cap = SoftcapAttr::get(
      context, mlir::FloatAttr::get(mlir::Float64Type::get(context), 2));
  // 2 tanh(3/2) = 2 (e^3 - 1) / (e^3 + 1)
  CHECK(std::fabs(cap.logit(3, {0, 9}) - 1.8102965072897328) < 1e-15);
  CHECK(std::fabs(cap.logit(-1e9, {0, 9}) + 2) < 1e-15);
  CHECK(!ScoreAttrInterface(cap).getQueryFactor());
  auto alibi = AlibiAttr::get(
      context, mlir::DenseF64ArrayAttr::get(context, {0.5, 0.1}));
  CHECK_EQ(alibi.logit(3, {0, 9}), -1.5);
  CHECK(std::fabs(alibi.logit(3, {1, 9}) - 2.1) < 1e-15);
  CHECK_EQ(alibi.getHeadNumbers().size(), 2u);
  CHECK_EQ(alibi.getHeadNumbers()[0][1], 0.0);
  ScoreAttrInterface sinks = LearnedSinksAttr::get(context);
  CHECK(sinks.startsWithLogit() &&
        !ScoreAttrInterface(plain).startsWithLogit());
  CHECK_EQ(sinks.logit(3, {0, 9}), 3.0);
}

} // namespace

int main() {
  mlir::MLIRContext local;
  local.loadDialect<KVDialect>();
  context = &local;
  coding();
  limits();
  small();
  decoding();
  coded();
  time();
  position();
  depthAndScore();
  return kvc::test::checkResult();
}
