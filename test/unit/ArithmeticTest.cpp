//===- ArithmeticTest.cpp - codes multiplied as integers, where it is hard ===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries of i16 and of i8 against the reference, on dims that fill sums or
// leave words half empty, and on input that whole numbers may stumble over.
// With 8-bit codes and 512 channels a sum of 32 bits would overflow.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "test/unit/Check.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

/// What the input of a case looks like.
enum class Input {
  Random,
  OutlierChannels, ///< a few channels of keys 100 times as large
  Biased300,       ///< keys and values of mean 300, deviation 0.3
  Biased1000,      ///< of mean 1000, deviation 1
  OutlierToken,    ///< a value 1000 times as large beside one of most weight
  Largest,         ///< q and k at one end of their range: the largest sums
  DeadChannel,     ///< a channel of zeros that meets a large q
  DeadToken,       ///< a value of zeros that has nearly all weight
  LoneToken,       ///< 2^50 of no weight among values that are all -1.5
  LoneNumbers,     ///< few numbers of 1000 among many of 0.01
};
constexpr Input allInputs[] = {Input::Random,       Input::OutlierChannels,
                               Input::Biased300,    Input::Biased1000,
                               Input::OutlierToken, Input::Largest,
                               Input::DeadChannel,  Input::DeadToken,
                               Input::LoneToken,    Input::LoneNumbers};

/// The token that most of a query's weight falls on, and the one beside it.
constexpr int64_t heavy = 21, beside = 22;

TokenInput makeToken(Input input, int64_t token, const LayerShape &shape) {
  const InputKind drawn =
      input == Input::LoneNumbers ? InputKind::OneOutlier : InputKind::Gaussian;
  TokenInput one = makeInput(drawn, /*seed=*/5, 0, token, shape,
                             /*stores=*/true, Element::F32);
  const int64_t dim = shape.headDim;
  auto shift = [](std::vector<float> &plane, float factor, float to) {
    for (float &x : plane)
      x = x * factor + to;
  };
  // All queries look the same way where a token is to be heavy.
  const bool points = input == Input::OutlierToken ||
                      input == Input::DeadToken || input == Input::LoneToken;
  if (points) {
    for (int64_t i = 0; i < shape.heads * dim; ++i)
      one.q[i] = i % dim % 2 ? -1.0f : 1.0f;
    const float size = 12 / std::sqrt(static_cast<float>(dim));
    for (int64_t i = 0; token == heavy && i < shape.kvHeads * dim; ++i)
      one.k[i] = (i % dim % 2 ? -1.0f : 1.0f) * size;
  }
  switch (input) {
  case Input::Random:
  case Input::LoneNumbers:
    break;
  case Input::OutlierChannels:
    for (int64_t i = 0; i < shape.kvHeads * dim; ++i)
      one.k[i] *= i % 11 == 3 ? 100.0f : 1.0f;
    break;
  case Input::Biased300:
    shift(one.k, 0.3f, 300), shift(one.v, 0.3f, 300);
    break;
  case Input::Biased1000:
    shift(one.k, 1, 1000), shift(one.v, 1, -1000);
    break;
  case Input::OutlierToken:
    if (token == beside)
      shift(one.v, 1000, 0);
    break;
  case Input::Largest:
    for (float &x : one.q)
      x = 3;
    for (float &x : one.k)
      x = token % 7 ? 5 : -1;
    break;
  case Input::DeadChannel:
    for (int64_t i = 0; i < shape.heads * dim; i += dim)
      one.q[i] = 0x1p30f;
    for (int64_t i = 0; i < shape.kvHeads * dim; i += dim)
      one.k[i] = 0;
    break;
  case Input::DeadToken:
    if (token == heavy)
      shift(one.v, 0, 0);
    break;
  case Input::LoneToken:
    shift(one.v, 0, token == beside ? 0x1p50f : -1.5f);
    for (int64_t i = 0; token == beside && i < shape.kvHeads * dim; ++i)
      one.k[i] =
          (i % dim % 2 ? 36.0f : -36.0f) / std::sqrt(static_cast<float>(dim));
    break;
  }
  return one;
}

/// Appends, decodes and prefills; "" or what missed.
std::string play(const LoadedLibrary &library, Model &model, Input input,
                 bool isRandom) {
  auto comparison = Comparison::create(library, model.module(), 0, {});
  if (!comparison)
    return toString(comparison.takeError());
  Comparison &both = **comparison;
  if (isRandom)
    both.setRandom();
  auto tokens = [&](int64_t from, int64_t count) {
    std::vector<TokenInput> inputs;
    for (int64_t i = 0; i < count; ++i)
      inputs.push_back(makeToken(input, from + i, library.layers()[0]));
    return inputs;
  };
  bool right = both.chunk(0, tokens(0, 61), /*attends=*/false);
  for (int64_t token = 61; right && token < 70; ++token)
    right = both.step(0, tokens(token, 1)[0], /*compare=*/true);
  right = right && both.chunk(0, tokens(70, 45), /*attends=*/true) &&
          both.step(0, tokens(115, 1)[0], /*compare=*/true) &&
          both.compareStored(0);
  return both.miss();
}

struct Kind {
  const char *keys, *values, *arithmetic;
};
const Kind kinds[] = {
    {"{bits: 8, per: channel, group: 32}", "{bits: 8, per: token}", "i16"},
    {"{bits: 4, per: token}", "{bits: 4, per: channel, group: 24, scales: f32}",
     "i16"},
    {"{bits: 8, per: token, group: 31, residual: 9}",
     "{bits: 8, per: channel, group: 5}", "i16"},
    {"{bits: 4, per: channel, group: 7}", "{bits: 8, per: token, group: 5}",
     "i16"},
    {"{bits: 4, per: channel}", "{bits: 4, per: token, group: 32}", "i8"},
    {"{bits: 4, per: token, group: 16}", "{bits: 4, per: channel}", "i8"}};

void check(const Kind &kind, int64_t dim, const char *window,
           const char *scale = "") {
  const std::string text = formatv(
      "kvc: 1\nname: integers\nmodel: {{layers: 1, heads: 3, kv_heads: "
      "1, head_dim: {0}, rope: none{5}}\ncache: {{keys: {1}, values: {2}, "
      "arithmetic: {3}, residual_type: f32, {4}}\n",
      dim, kind.keys, kind.values, kind.arithmetic, window, scale);
  auto model = Model::fromSpec(text, "integers", /*threads=*/false);
  if (!model)
    return CHECK_EQ(toString(model.takeError()), ""), void();
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return CHECK_EQ(toString(library.takeError()), ""), void();
  for (Input input : allInputs) {
    std::string miss = play(*library, **model, input, input == Input::Random);
    if (!miss.empty())
      miss = formatv("input {0}: {1}\n{2}", int(input), miss, text);
    CHECK_EQ(miss, "");
  }
}

} // namespace

int main() {
  for (auto [number, kind] : enumerate(kinds)) {
    check(kind, 6, "window: all, context: 200");
    check(kind, 72, "sink: 3, window: 50");
  }
  // Nothing makes logits small: steps of a large scale would move weights by
  // more than their bound.
  for (const Kind &kind : ArrayRef(kinds).take_front(4)) {
    check(kind, 64, "window: all, context: 200", ", scale: 1");
    check(kind, 64, "sink: 3, window: 50", ", scale: -1");
  }
  check(kinds[0], 258, "window: all, context: 200");
  check(kinds[0], 512, "window: 50");
  check(kinds[2], 512, "window: all, context: 200");
  check(kinds[4], 258, "window: all, context: 200");
  return kvc::test::checkResult();
}
