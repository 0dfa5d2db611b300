//===- CachePositionsTest.cpp - `positions: cache` by its definition ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries against the paper's definition, done the plain way: see
// CacheDefinition.h. At each step of a stream, near position 0 and at 10^8.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Calls.h"
#include "test/unit/CacheDefinition.h"
#include "test/unit/Check.h"

#include <algorithm>
#include <cmath>

using namespace kvc;
using namespace kvc::harness;
using namespace kvc::test;
using namespace llvm;

namespace {

std::vector<double> plain(double theta, int dims) {
  std::vector<double> all;
  for (int i = 0; i < dims; i += 2)
    all.push_back(std::pow(theta, -double(i) / dims));
  return all;
}

std::vector<double> linear(std::vector<double> all, double factor) {
  for (double &f : all)
    f /= factor;
  return all;
}

std::vector<double> llama3(std::vector<double> all, double factor, double low,
                           double high, double context) {
  for (double &f : all) {
    const double turns = context * f / (2 * M_PI);
    const double share = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    f = (1 - share) * f / factor + share * f;
  }
  return all;
}

/// With the default betas, truncated.
std::vector<double> yarn(double theta, int dims, double factor,
                         double context) {
  auto dimension = [&](double turns) {
    return dims * std::log(context / (turns * 2 * M_PI)) /
           (2 * std::log(theta));
  };
  const double from = std::max(0.0, std::floor(dimension(32)));
  const double to = std::min(dims - 1.0, std::ceil(dimension(1)));
  std::vector<double> all = plain(theta, dims);
  for (size_t i = 0; i < all.size(); ++i) {
    const double ramp = std::clamp((double(i) - from) / (to - from), 0.0, 1.0);
    all[i] = (1 - ramp) * all[i] + ramp * all[i] / factor;
  }
  return all;
}

/// The slopes of the paper for n heads.
std::vector<double> paperSlopes(int n) {
  int power = 1;
  while (2 * power <= n)
    power *= 2;
  std::vector<double> slopes;
  for (int i = 1; i <= power; ++i)
    slopes.push_back(std::exp2(-8.0 * i / power));
  for (int i = 0; power + i < n; ++i)
    slopes.push_back(std::exp2(-8.0 * (2 * i + 1) / (2 * power)));
  return slopes;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

struct Case {
  const char *name, *spec; ///< without the first two lines
  Scheme scheme;
};

std::vector<Case> makeCases() {
  constexpr double f16 = 0x1p-11, bf16 = 0x1p-8;
  return {
      {"f32, half",
       "model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 8,\n"
       "        rope: {theta: 10000}}\n"
       "cache: {sink: 3, window: 37, positions: cache}\n",
       {{plain(10000, 8)}, 3, 37}},
      {"f16, interleaved, part of a head",
       "model: {layers: 1, heads: 3, head_dim: 11, io: f16,\n"
       "        rope: {theta: 50, dims: 6, pairing: interleaved}}\n"
       "cache: {keys: f16, sink: 1, window: 5, positions: cache}\n",
       {{plain(50, 6), true}, 1, 5, false, false, f16, f16}},
      {"bf16 beside f32 sinks, half, part of a head",
       "model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 9, value_dim: 4,\n"
       "        rope: {theta: 7, dims: 4}}\n"
       "cache: {keys: bf16, values: f16, sink: 17, sink_type: f32,\n"
       "        window: 13, positions: cache}\n",
       {{plain(7, 4)}, 17, 13, false, false, 0, bf16}},
      {"a window of one",
       "model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 6,\n"
       "        rope: {theta: 10000, scaling: {type: ntk, factor: 4}}}\n"
       "cache: {sink: 1, window: 1, positions: cache}\n",
       {{plain(10000 * std::pow(4, 6.0 / 4), 6)}, 1, 1}},
      // Codes are multiplied in f32, whose bound is the narrow one.
      {"int8 per channel, int4 per token",
       "model: {layers: 1, heads: 4, kv_heads: 2, head_dim: 8, value_dim: 5,\n"
       "        rope: {theta: 500, scaling: {type: llama3, factor: 8,\n"
       "               low: 1, high: 4, original_context: 300}}}\n"
       "cache: {keys: {bits: 8, per: channel, group: 16, flush: 32, residual: "
       "0},\n"
       "        values: {bits: 4, per: token, residual: 0}, sink: 5, window: "
       "45,\n"
       "        positions: cache, arithmetic: f32}\n",
       {{llama3(plain(500, 8), 8, 1, 4, 300)}, 5, 45, true, true}},
      {"int4 per token after a residual",
       "model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 10,\n"
       "        rope: {theta: 100, dims: 10, pairing: interleaved,\n"
       "               scaling: {type: linear, factor: 3}}}\n"
       "cache: {keys: {bits: 4, per: token, group: 4, residual: 13},\n"
       "        values: {bits: 2, per: channel, group: 8, residual: 0}, sink: "
       "7,\n"
       "        residual_type: f16, window: 51, positions: cache, arithmetic: "
       "f32}\n",
       {{linear(plain(100, 10), 3), true}, 7, 51, true, true}},
      {"a flush longer than the window",
       "model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 8,\n"
       "        rope: {theta: 1000}}\n"
       "cache: {keys: {bits: 4, per: channel, group: 8, flush: 40, residual: "
       "0},\n"
       "        values: bf16, sink: 3, window: 11, positions: cache, "
       "arithmetic: f32,\n"
       "        rollback: 6}\n",
       {{plain(1000, 8)}, 3, 11, true, false}},
      {"ALiBi alone",
       "model: {layers: 1, heads: 3, kv_heads: 1, head_dim: 5,\n"
       "        alibi: {slopes: [0.01, 0.125, 0]}}\n"
       "cache: {sink: 3, window: 29, positions: cache}\n",
       {{}, 3, 29, false, false, 0, 0, {{0, 0, {0.01, 0.125, 0}}}}},
      {"ALiBi over int8, a softcap",
       "model: {layers: 1, heads: 6, kv_heads: 2, head_dim: 7, softcap: 2,\n"
       "        alibi: true}\n"
       "cache: {keys: {bits: 8, per: channel, group: 12, residual: 0}, values: "
       "{bits: 4,\n"
       "        per: token, group: 3, residual: 0}, sink: 9, window: 31,\n"
       "        positions: cache, arithmetic: f32}\n",
       {{}, 9, 31, true, true, 0, 0, {{0, 2, paperSlopes(6)}}}},
      {"ALiBi and a rotation that yarn scales, int4",
       "model: {layers: 1, heads: 4, kv_heads: 2, head_dim: 16, scale: 0.3,\n"
       "        alibi: true, rope: {theta: 10000, scaling: {type: yarn,\n"
       "        factor: 8, original_context: 256}}}\n"
       "cache: {keys: {bits: 4, per: channel, group: 8, residual: 0}, values: "
       "{bits: 8,\n"
       "        per: channel, group: 8, residual: 0}, sink: 3, window: 43,\n"
       "        positions: cache, arithmetic: f32}\n",
       {{yarn(10000, 16, 8, 256), false, 0.1 * std::log(8.0) + 1},
        3,
        43,
        true,
        true,
        0,
        0,
        {{0.3, 0, paperSlopes(4)}}}},
      {"readers with scores of their own",
       "model: {layers: 3, heads: 2, kv_heads: 2, head_dim: 8,\n"
       "        rope: {theta: 10000}}\n"
       "cache: {keys: f16, values: {bits: 8, per: token, residual: 3},\n"
       "        sink: 5, window: 23, positions: cache, arithmetic: f32, "
       "rollback: 2}\n"
       "layers: [{at: 1, share: 0, heads: 4, scale: -0.5},\n"
       "         {at: 2, share: 0, softcap: 1.5, alibi: {slopes: [0.1, 0.02]}}]"
       "\n",
       {{plain(10000, 8)},
        5,
        23,
        false,
        true,
        f16,
        f16,
        {{}, {-0.5, 0, {}}, {0, 1.5, {0.1, 0.02}}}}}};
}

//===----------------------------------------------------------------------===//
// Libraries against it
//===----------------------------------------------------------------------===//

/// A library's sequence beside the definition.
class Sequence {
public:
  Sequence(const Case &one, const LoadedLibrary &library, LibraryCache cache,
           int64_t first)
      : one(one), library(library), cache(std::move(cache)), first(first),
        definition(one.scheme, library.layers(), library.io(), first) {}

  void run();

private:
  Stored read() const;
  void step(int64_t layer, int64_t token, InputKind kind);
  bool fits(Way way, int64_t layer, const Stored &stored, const TokenInput &in,
            const Output &got);

  const Case &one;
  const LoadedLibrary &library;
  LibraryCache cache;
  int64_t first;
  Definition definition;
  double worst[3] = {};                    ///< by way, of the bound
  int64_t evicting = 0, foundAbsolute = 0; ///< steps
};

Stored Sequence::read() const {
  const LayerShape &shape = library.layers()[0];
  Stored stored;
  CHECK_EQ(library->stored(cache.get(), 0, &stored.count), KVC_OK);
  stored.keys.resize(shape.kvHeads * stored.count * shape.headDim);
  stored.values.resize(shape.kvHeads * stored.count * shape.valueDim);
  stored.positions.resize(stored.count);
  CHECK_EQ(library->read(cache.get(), 0, 0, stored.count, stored.keys.data(),
                         stored.values.data(), stored.positions.data()),
           KVC_OK);
  return stored;
}

bool Sequence::fits(Way way, int64_t layer, const Stored &stored,
                    const TokenInput &in, const Output &got) {
  const LayerShape &shape = library.layers()[layer];
  double &most = worst[static_cast<size_t>(way)];
  double largest = 0;
  for (int64_t head = 0; head < shape.heads; ++head) {
    const Row row = definition.attend(way, layer, stored, in.q, head);
    for (int64_t d = 0; d < shape.valueDim; ++d)
      largest = std::max(
          largest, std::fabs(got.out[head * shape.valueDim + d] - row.out[d]) /
                       row.bounds[d]);
    largest =
        std::max(largest, std::fabs(got.lse[head] - row.lse) / row.lseBound);
  }
  most = std::max(most, largest);
  return largest <= 1;
}

void Sequence::step(int64_t layer, int64_t token, InputKind kind) {
  const bool owns = layer == 0;
  const TokenInput in = makeInput(kind, /*seed=*/9, layer, token,
                                  library.layers()[layer], owns, library.io());
  Output got;
  if (!CHECK_EQ(decode(library, cache, layer,
                       {first + token, 1, in.q, in.k, in.v}, got),
                KVC_OK))
    return;
  if (owns)
    definition.give(in);
  const Stored stored = read();
  const int64_t body = std::max<int64_t>(0, token + 1 - one.scheme.sinks);
  CHECK_EQ(stored.count,
           token + 1 - std::max<int64_t>(0, body - one.scheme.window));
  if (!CHECK(fits(Way::Stored, layer, stored, in, got)))
    std::printf("%s: layer %lld, first %lld, token %lld\n", one.name,
                static_cast<long long>(layer), static_cast<long long>(first),
                static_cast<long long>(token));
  if (!one.scheme.keyCodes) {
    CHECK(fits(Way::Given, layer, stored, in, got));
    if (one.scheme.bodyUlp == 0)
      CHECK(definition.anglesRight(stored));
  }
  if (body > one.scheme.window) {
    ++evicting;
    foundAbsolute += !fits(Way::Absolute, layer, stored, in, got);
  }
}

void Sequence::run() {
  const int64_t length = one.scheme.sinks + 2 * one.scheme.window + 70;
  for (int64_t token = 0; token < length; ++token)
    for (size_t layer = 0; layer < library.layers().size(); ++layer)
      step(static_cast<int64_t>(layer), token,
           token % 4 == 1 ? InputKind::Outliers : InputKind::Gaussian);
  std::printf("%-44s from %9lld: turned back %.3f, as given %.3f of the bound; "
              "absolute positions miss %lld of %lld\n",
              one.name, static_cast<long long>(first), worst[0], worst[1],
              static_cast<long long>(foundAbsolute),
              static_cast<long long>(evicting));
  // The bound tells the two schemes apart, but where sinks have no weight.
  CHECK(evicting > 0 && 2 * foundAbsolute > evicting);
}

void check(const Case &one) {
  auto model =
      Model::fromSpec(std::string("kvc: 1\nname: in_cache\n") + one.spec,
                      "in_cache", /*threads=*/false);
  if (!model)
    return CHECK_EQ(toString(model.takeError()), ""), void();
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return CHECK_EQ(toString(library.takeError()), ""), void();
  for (int64_t first : {int64_t{0}, int64_t{100'000'000}}) {
    auto cache = library->create(first);
    if (!cache)
      return CHECK_EQ(toString(cache.takeError()), ""), void();
    Sequence(one, *library, std::move(*cache), first).run();
  }
}

} // namespace

int main() {
  for (const Case &one : makeCases())
    check(one);
  return kvc::test::checkResult();
}
