//===- LongSumsTest.cpp - one value, very often ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All values are one constant, so that attention gives it back, whatever the
// weights are. A sum of 10^6 like terms in f32, one by one, does not: each is
// rounded to the same side as the one before. Sixteen heads of keys keep the
// tokens in one part. The constant is no number of f16: of codes with the least
// scale integers would keep away.
// So it is with parts: very many that are alike give back one of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Calls.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Random.h"
#include "test/unit/Check.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

struct Case {
  const char *values, *arithmetic;
  int64_t tokens;
  double bound;
};
const Case cases[] = {
    {"f16", "f32", 131072, 2e-5},
    {"{bits: 4, per: token}", "f32", 131072, 2e-5},
    {"{bits: 4, per: token}", "f32", 1000000, 2e-5},
    {"{bits: 4, per: token}", "i16", 131072, 2e-3},
    {"{bits: 4, per: token}", "i16", 1000000, 2e-3},
    {"{bits: 4, per: channel, group: 32}", "i16", 131072, 2e-3},
    {"{bits: 4, per: token}", "i8", 131072, 2e-3}};

constexpr int64_t heads = 16;

std::string attendTo(const LoadedLibrary &library, const LibraryCache &cache,
                     const Case &one, double constant) {
  Tokens query;
  query.position = one.tokens - 1;
  query.count = 1;
  double worst = 0;
  // Equal weights, and ever less equal ones.
  for (float size : {0.0f, 0.05f, 1.0f}) {
    query.q.assign(heads * 2, size);
    Output got;
    if (attend(library, cache, 0, query, 0, one.tokens, false, got) != KVC_OK)
      return cache.lastError();
    for (float x : got.out)
      worst = std::max(worst, std::fabs(x - constant) / constant);
  }
  std::printf("%-36s %s %8lld tokens: %.2e of %.0e\n", one.values,
              one.arithmetic, static_cast<long long>(one.tokens), worst,
              one.bound);
  return worst <= one.bound ? "" : formatv("off by {0:e3}", worst).str();
}

Expected<LoadedLibrary> open(const Case &one) {
  const std::string text = formatv(
      "kvc: 1\nname: sums\nmodel: {{layers: 1, heads: {0}, head_dim: 2, "
      "value_dim: 1}\ncache: {{keys: {{bits: 4, per: channel}, values: {1}, "
      "arithmetic: {2}, context: {3}}\n",
      heads, one.values, one.arithmetic, one.tokens);
  auto model = Model::fromSpec(text, "sums", /*threads=*/false);
  if (!model)
    return model.takeError();
  return openCompiled(**model, CompileOptions());
}

std::string check(const Case &one) {
  auto library = open(one);
  if (!library)
    return toString(library.takeError());
  auto cache = library->create();
  if (!cache)
    return toString(cache.takeError());
  Random random(1);
  for (int64_t token = 0; token < one.tokens;) {
    Tokens chunk;
    chunk.position = token;
    chunk.count = std::min<int64_t>(4096, one.tokens - token);
    for (int64_t i = 0; i < chunk.count * heads * 2; ++i)
      chunk.k.push_back(static_cast<float>(random.uniform() * 2 - 1));
    chunk.v.assign(chunk.count * heads, 700.3f);
    if (append(*library, *cache, 0, chunk) != KVC_OK)
      return cache->lastError();
    token += chunk.count;
  }
  std::vector<float> stored(heads);
  if ((*library)->read(cache->get(), 0, 0, 1, nullptr, stored.data(),
                       nullptr) != KVC_OK)
    return cache->lastError();
  return attendTo(*library, *cache, one, stored[0]);
}

/// The same result of very many parts, which is their joint one too.
std::string joinParts(size_t count) {
  auto library = open(cases[0]);
  if (!library)
    return toString(library.takeError());
  const std::vector<float> out(heads, 700.3f), lse(heads, 3.1f);
  const std::vector<kvc_part> parts(count, {out.data(), lse.data()});
  std::vector<float> gotOut(heads), gotLse(heads);
  if ((*library)->merge(0, parts.data(), count, 1, gotOut.data(),
                        gotLse.data()) != KVC_OK)
    return "not merged";
  const double exactLse = lse[0] + std::log(static_cast<double>(count));
  for (int64_t head = 0; head < heads; ++head) {
    const double off = std::fabs(gotOut[head] - out[0]) / out[0];
    const double offLse = std::fabs(gotLse[head] - exactLse);
    if (off > 2e-5 || offLse > 2e-5 + 0x1p-22 * exactLse)
      return formatv("out is off by {0:e3}, lse by {1:e3}", off, offLse).str();
  }
  return "";
}

} // namespace

int main() {
  for (size_t count : {1, 255, 256, 257, 10000})
    CHECK_EQ(joinParts(count), "");
  for (const Case &one : cases)
    CHECK_EQ(check(one), "");
  return kvc::test::checkResult();
}
