//===- HistoryTest.cpp - the bits of one that was alone -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sequence is decoded alone. Then again, while at random steps it is forked,
// brought back from tokens that were drafts, saved and loaded, or decoded in
// one call with another sequence: each output must be the same to the bit, and
// so must the snapshot at the end.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Inputs.h"
#include "compiler/harness/LoadedLibrary.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Random.h"
#include "test/unit/Check.h"

#include <algorithm>
#include <cstring>

using namespace kvc;
using namespace kvc::harness;

namespace {

constexpr int64_t steps = 150;

struct Bytes {
  std::string bytes;
  size_t done = 0;

  static int write(void *user, const void *from, size_t count) {
    static_cast<Bytes *>(user)->bytes.append(static_cast<const char *>(from),
                                             count);
    return 0;
  }
  static size_t read(void *user, void *to, size_t count) {
    Bytes &stream = *static_cast<Bytes *>(user);
    count = std::min(count, stream.bytes.size() - stream.done);
    std::memcpy(to, stream.bytes.data() + stream.done, count);
    stream.done += count;
    return count;
  }
};

/// One sequence of a library, whatever became of its cache.
class Sequence {
public:
  explicit Sequence(const LoadedLibrary &library) : library(library) {
    CHECK_EQ(library->create(nullptr, &cache), KVC_OK);
  }
  ~Sequence() { library->destroy(cache); }
  Sequence(const Sequence &) = delete;
  Sequence &operator=(const Sequence &) = delete;

  /// The outputs of all layers at `token`, whose numbers are those of `input`;
  /// `other` takes its next token in the same calls.
  std::vector<float> step(int64_t token, uint64_t input,
                          Sequence *other = nullptr) {
    std::vector<float> all;
    for (size_t layer = 0; layer < library.layers().size(); ++layer) {
      Row mine = row(layer, token, input);
      kvc_step both[2] = {mine.step(cache, token)};
      Row its;
      if (other) {
        its = row(layer, other->length, /*input=*/77);
        both[1] = its.step(other->cache, other->length);
      }
      CHECK_EQ(library->decode(both, other ? 2 : 1), KVC_OK);
      all.insert(all.end(), mine.out.begin(), mine.out.end());
    }
    if (other)
      ++other->length;
    length = token + 1;
    return all;
  }

  /// Drafts, and back.
  void draft(int64_t token, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      step(token + i, /*input=*/1000 + static_cast<uint64_t>(token + i));
    CHECK_EQ(library->truncate(cache, token), KVC_OK);
  }

  /// Goes on as a fork, or with one beside that goes elsewhere.
  void fork(int64_t token, bool asTheFork) {
    kvc_cache *other = nullptr;
    CHECK_EQ(library->fork(cache, nullptr, &other), KVC_OK);
    if (asTheFork)
      std::swap(cache, other);
    std::swap(cache, other);
    step(token, /*input=*/2000);
    step(token + 1, /*input=*/2001);
    std::swap(cache, other);
    library->destroy(other);
  }

  std::string save() const {
    Bytes stream;
    CHECK_EQ(library->save_to(cache, Bytes::write, &stream), KVC_OK);
    return stream.bytes;
  }

  /// Through a file into a cache that had other tokens, or none.
  void reload(bool isUsed) {
    Bytes stream{save()};
    Sequence other(library);
    for (int64_t t = 0; isUsed && t < 37; ++t)
      other.step(t, /*input=*/3000);
    CHECK_EQ(library->load_from(other.cache, Bytes::read, &stream), KVC_OK);
    std::swap(cache, other.cache);
  }

private:
  struct Row {
    TokenInput input;
    std::vector<float> out;
    int64_t layer = 0;

    kvc_step step(kvc_cache *cache, int64_t token) {
      return {cache,
              static_cast<int32_t>(layer),
              token,
              input.q.data(),
              input.k.empty() ? nullptr : input.k.data(),
              input.v.empty() ? nullptr : input.v.data(),
              out.data(),
              nullptr,
              KVC_OK};
    }
  };

  Row row(size_t layer, int64_t token, uint64_t input) const {
    const LayerShape &shape = library.layers()[layer];
    Row row;
    row.layer = static_cast<int64_t>(layer);
    row.input = makeInput(token % 2 ? InputKind::Gaussian : InputKind::Outliers,
                          input, row.layer, token, shape,
                          shape.owner == row.layer, Element::F32);
    row.out.resize(static_cast<size_t>(shape.heads * shape.valueDim));
    return row;
  }

  const LoadedLibrary &library;
  kvc_cache *cache = nullptr;
  int64_t length = 0;
};

/// Layers that all go back by 6.
const char *const specs[] = {
    // Codes per channel and token, a window, positions in the cache, integers.
    "model: {layers: 2, heads: 6, kv_heads: 2, head_dim: 24, rope: {theta: "
    "10000}}\n"
    "cache: {keys: {bits: 4, per: channel, group: 8, flush: 16}, values: "
    "{bits: "
    "4, per: token, group: 12, residual: 11}, residual_type: f32, sink: 3, "
    "window: 50, positions: cache, rollback: 6, arithmetic: i16}\n"
    "layers: [{at: 1, arithmetic: i8, positions: absolute, window: 17}]\n",
    // Codes the other way, all tokens; a reader.
    "model: {layers: 3, heads: 4, kv_heads: 1, head_dim: 40, value_dim: 9, "
    "rope: "
    "{theta: 100, dims: 20, pairing: interleaved}, softcap: 20}\n"
    "cache: {keys: {bits: 8, per: token, group: 16}, values: {bits: 2, per: "
    "channel, group: 5}, context: 400, rollback: 6, arithmetic: i16}\n"
    "layers: [{at: 1, scale: 1}, {at: 2, share: 0, heads: 3, alibi: true}]\n",
    // Codes made anew, floats of two types.
    "model: {layers: 2, heads: 3, kv_heads: 3, head_dim: 16, alibi: true}\n"
    "cache: {keys: {bits: 4, per: channel, group: all}, values: bf16, "
    "residual_type: f16, sink: 2, window: 40, rollback: 6}\n"
    "layers: [{at: 1, keys: f16, values: {bits: 8, per: channel, group: all}, "
    "sink_type: f32}]\n"};

void check(const std::string &text) {
  auto model = Model::fromSpec("kvc: 1\nname: history\n" + text, "history",
                               /*threads=*/false);
  if (!model)
    return CHECK_EQ(toString(model.takeError()), ""), void();
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return CHECK_EQ(toString(library.takeError()), ""), void();
  std::vector<std::vector<float>> alone;
  Sequence first(*library);
  for (int64_t t = 0; t < steps; ++t)
    alone.push_back(first.step(t, /*input=*/1));
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Sequence mine(*library), other(*library);
    for (int64_t t = 0; t < steps; ++t) {
      if (random.oneIn(6))
        mine.draft(t, random.between(1, 6));
      if (random.oneIn(6))
        mine.fork(t, random.oneIn(2));
      if (random.oneIn(20))
        mine.reload(random.oneIn(2));
      const bool isBatch = random.oneIn(3);
      const auto out = mine.step(t, /*input=*/1, isBatch ? &other : nullptr);
      const bool isSame = out.size() == alone[t].size() &&
                          std::memcmp(out.data(), alone[t].data(),
                                      out.size() * sizeof(float)) == 0;
      if (!CHECK(isSame)) {
        std::printf("seed %d, token %d of\n%s", int(seed), int(t),
                    text.c_str());
        return;
      }
    }
    CHECK(mine.save() == first.save());
  }
}

} // namespace

int main() {
  for (const char *text : specs)
    check(text);
  return kvc::test::checkResult();
}
