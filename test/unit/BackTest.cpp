//===- BackTest.cpp - a reader whose owner went back far ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Back further than rollback, to a length whose codes are all there still, and
// on in the longest chunks that readers allow: each reader's query finds what
// its owner's step attended to, as in a cache that never was longer.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "test/unit/Check.h"

using namespace kvc;
using namespace kvc::harness;

static const char *text = "kvc: 1\n"
                          "name: back\n"
                          "model: {layers: 2, heads: 1, head_dim: 4}\n"
                          "cache: {keys: {bits: 8, per: channel, group: 4, "
                          "flush: 8, residual: 0}, values: f32,\n"
                          "        window: all, context: 100, rollback: 1}\n"
                          "layers: [{at: 1, share: 0}]\n";

namespace {
/// A cache that is fed two tokens at a time, by owner and reader.
struct Fed {
  Fed(const LoadedLibrary &library, LibraryCache made)
      : library(library), cache(std::move(made)) {}

  /// What the reader gives; empty where either is refused.
  std::vector<float> feed(int64_t to) {
    std::vector<float> out;
    for (; seen < to; seen += 2)
      for (int64_t layer : {0, 1}) {
        std::vector<TokenInput> inputs;
        for (int64_t t : {seen, seen + 1})
          inputs.push_back(makeInput(InputKind::Gaussian, 1, layer, t,
                                     library.layers()[layer], layer == 0,
                                     library.io()));
        Output got;
        const kvc_status status =
            prefill(library, cache, layer,
                    tokensOf(seen, inputs, /*attends=*/true), got);
        if (!kvc::test::checkEqual(status, KVC_OK, __FILE__, __LINE__,
                                   cache.lastError()))
          return {};
        out.insert(out.end(), got.out.begin(), got.out.end());
      }
    return out;
  }

  const LoadedLibrary &library;
  LibraryCache cache;
  int64_t seen = 0;
};
} // namespace

int main() {
  auto model = Model::fromSpec(text, "back.yaml", /*threads=*/false);
  if (!CHECK(bool(model)))
    return 1;
  auto library = openCompiled(**model, CompileOptions());
  if (!CHECK(bool(library)))
    return 1;
  CHECK_EQ(library->chunk(0), 2);
  auto make = [&] {
    auto cache = library->create();
    if (!cache)
      std::exit(1);
    return Fed(*library, std::move(*cache));
  };
  Fed straight = make(), went = make();
  straight.feed(8);
  const std::vector<float> want = straight.feed(60);
  went.feed(40);
  CHECK_EQ(truncate(*library, went.cache, 8), KVC_OK);
  went.seen = 8;
  CHECK(went.feed(60) == want);
  // And one more step back, over a border of codes.
  CHECK_EQ(truncate(*library, went.cache, 56), KVC_OK);
  went.seen = 56;
  went.feed(64);
  CHECK_EQ(truncate(*library, went.cache, 63), KVC_OK);
  CHECK_EQ(truncate(*library, went.cache, 55), KVC_GONE);
  return kvc::test::checkResult();
}
