//===- LongCallsTest.cpp - calls over thousands of tokens -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a layer has few heads and many tokens, its work is cut by tokens as
// well, and parts are merged: results must be right, and the same bits on any
// threads. Other tests are too short for it.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Together.h"
#include "test/unit/Check.h"

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

constexpr int64_t tokens = 4300;

/// One way to keep a layer with one head of keys, or three.
struct Case {
  const char *spec;
};

const Case cases[] = {
    {"model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 8}\n"
     "cache: {context: 5000}\n"},
    {"model: {layers: 1, heads: 3, head_dim: 6, value_dim: 9, io: f16,\n"
     "        rope: {theta: 10000}, learned_sinks: true}\n"
     "cache: {keys: {bits: 4, per: channel, group: 16}, values: bf16,\n"
     "        sink: 5, window: 3333, positions: cache, rollback: 70}\n"},
    // Codes that are made anew, once for all parts of a step.
    {"model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 4, value_dim: 3}\n"
     "cache: {keys: {bits: 8, per: channel, group: all}, sink: 2,\n"
     "        values: {bits: 4, per: channel, group: all}, window: 3000,\n"
     "        rollback: 70}\n"}};

std::string check(const Case &one) {
  auto model =
      Model::fromSpec(std::string("kvc: 1\nname: long_calls\n") + one.spec,
                      "long", /*threads=*/false);
  if (!model)
    return toString(model.takeError());
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return toString(library.takeError());
  auto comparison =
      Comparison::create(*library, (*model)->module(), 0,
                         makeSinks(/*seed=*/1, library->layers()));
  if (!comparison)
    return toString(comparison.takeError());
  auto input = [&](int64_t token) {
    return makeInput(InputKind::Gaussian, /*seed=*/1, 0, token,
                     library->layers()[0], /*stores=*/true, library->io());
  };
  Comparison &both = **comparison;
  bool right = true;
  for (int64_t token = 0; right && token < tokens;) {
    const int64_t count =
        std::min<int64_t>(token == 0 ? 1000 : 397, tokens - token);
    std::vector<TokenInput> inputs;
    for (int64_t i = 0; i < count; ++i)
      inputs.push_back(input(token + i));
    right = both.chunk(0, inputs, /*attends=*/false);
    token += count;
    inputs.resize(3);
    right = right && both.chunk(0, inputs, /*attends=*/true) &&
            both.step(0, input(token + 3), /*compare=*/true) &&
            both.query(0, token + 3, input(token), {700, 701, 2048});
    token += 4;
  }
  if (right)
    both.compareStored(0);
  return both.miss().empty() ? compareTogether(*library, /*seed=*/1, 2500)
                             : both.miss();
}

} // namespace

int main() {
  for (const Case &one : cases)
    CHECK_EQ(check(one), std::string());
  return kvc::test::checkResult();
}
