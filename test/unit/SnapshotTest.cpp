//===- SnapshotTest.cpp - what is no snapshot is refused ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every single-bit flip of a small snapshot, every length of it, and those of
// other specs: each is refused with the reason, and the cache is as it was. And
// what does not change stored values changes no snapshot.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Model.h"
#include "test/unit/Check.h"

#include <cmath>
#include <cstring>

using namespace kvc;
using namespace kvc::harness;

namespace {

using Bytes = std::vector<uint8_t>;

/// A library, and a cache of it with some tokens.
struct Played {
  Played(const std::string &text, int64_t tokens, int64_t first = 0);

  Bytes snapshot() const {
    Bytes bytes;
    CHECK_EQ(save(*library, *cache, bytes), KVC_OK);
    return bytes;
  }
  /// Its snapshot and all stats.
  std::vector<Bytes> state() const {
    std::vector<Bytes> all = {snapshot()};
    for (size_t layer = 0; layer < library->layers().size(); ++layer) {
      kvc_stats stats = {};
      stats.size = sizeof stats;
      CHECK_EQ((*library)->stats(cache->get(), int32_t(layer), &stats), KVC_OK);
      const auto *bytes = reinterpret_cast<const uint8_t *>(&stats);
      all.emplace_back(bytes, bytes + sizeof stats);
    }
    return all;
  }
  /// The reason; "" where it is taken.
  std::string whyRefused(llvm::ArrayRef<uint8_t> bytes) const {
    const kvc_status status = load(*library, *cache, bytes);
    if (status == KVC_OK)
      return "";
    CHECK_EQ(status, KVC_SNAPSHOT);
    CHECK(cache->lastError()[0] != '\0');
    return cache->lastError();
  }

  std::unique_ptr<Model> model;
  std::optional<LoadedLibrary> library;
  std::optional<LibraryCache> cache;
};

} // namespace

template <typename T> static T need(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  std::printf("%s\n", llvm::toString(value.takeError()).c_str());
  std::exit(1);
}

Played::Played(const std::string &text, int64_t tokens, int64_t first) {
  model = need(
      Model::fromSpec("kvc: 1\nname: m\n" + text, "spec", /*threads=*/false));
  library.emplace(need(openCompiled(*model, CompileOptions())));
  cache.emplace(need(library->create(first, makeSinks(1, library->layers()))));
  for (int64_t t = 0; t < tokens; ++t)
    for (size_t i = 0; i < library->layers().size(); ++i) {
      const auto layer = static_cast<int64_t>(i);
      if (library->layers()[i].owner != layer)
        continue;
      const TokenInput input =
          makeInput(InputKind::Outliers, 1, layer, t, library->layers()[i],
                    true, library->io());
      CHECK_EQ(append(*library, *cache, layer,
                      tokensOf(first + t, input, /*attends=*/false)),
               KVC_OK);
    }
}

static const char *smallModel =
    "model: {layers: 1, heads: 1, head_dim: 3, value_dim: 2}\n";

/// One bit is another; the end is missing; something follows.
static void testDamage(const std::string &cacheKeys, int64_t tokens) {
  const Played played(smallModel + cacheKeys, tokens);
  const Bytes good = played.snapshot();
  const std::vector<Bytes> before = played.state();
  std::printf("%zu bytes\n", good.size());
  CHECK(good.size() < 2000);
  for (size_t at = 0; at < 8 * good.size(); ++at) {
    Bytes bad = good;
    bad[at / 8] ^= static_cast<uint8_t>(1 << at % 8);
    if (!CHECK(!played.whyRefused(bad).empty()))
      std::printf("bit %zu of byte %zu is not missed\n", at % 8, at / 8);
    // What a flip could change shows in the snapshot; stats once a byte.
    if (at % 8 == 0 ? !CHECK(played.state() == before)
                    : !CHECK(played.snapshot() == good))
      return;
  }
  for (size_t size = 0; size < good.size(); ++size)
    CHECK(!played.whyRefused(llvm::ArrayRef(good).take_front(size)).empty());
  CHECK(played.state() == before);
  CHECK_EQ(played.whyRefused(good), "");
  CHECK(played.snapshot() == good);
}

/// Whether a cache of another spec takes a snapshot; why not.
static std::string between(const Played &from, const std::string &other,
                           int64_t first = 0) {
  const Played to(other, 4, first);
  const std::vector<Bytes> before = to.state();
  const std::string why = to.whyRefused(from.snapshot());
  if (!why.empty())
    CHECK(to.state() == before);
  else
    CHECK(to.snapshot() == from.snapshot());
  return why;
}

/// Keys that change what is stored, and the words of the reason.
static void testForeign() {
  const std::string model =
      "model: {layers: 1, heads: 2, kv_heads: 1, head_dim: 4";
  const std::string base = model + "}\ncache: {window: 9, sink: 1}\n";
  const Played from(base, 6);
  for (const char *other :
       {"}\ncache: {window: 8, sink: 1}\n", "}\ncache: {window: 9, sink: 2}\n",
        "}\ncache: {window: 9, sink: 1, keys: f16}\n",
        "}\ncache: {window: 9, sink: 1, sink_type: f16}\n",
        "}\ncache: {window: 9, sink: 1, values: {bits: 8, per: token}}\n",
        ", value_dim: 3}\ncache: {window: 9, sink: 1}\n",
        ", rope: {theta: 10}}\ncache: {window: 9, sink: 1}\n"}) {
    const std::string why = between(from, model + other);
    if (!CHECK(llvm::StringRef(why).contains("it was made for another spec")))
      std::printf("'%s' of %s", why.c_str(), other);
  }
  // Of a plane's codes, what to write: a snapshot from before residual was 1
  // where nobody says, among others.
  const std::string codes = model +
                            "}\ncache: {window: 40, keys: {bits: 4, "
                            "per: token, residual: 0}, values: {bits: "
                            "8, per: channel, group: 5, residual: 0}}\n";
  const Played old(codes, 12);
  struct Case {
    const char *keys, *values, *why;
  };
  for (const Case &other : {
           Case{"", ", group: 5, residual: 0",
                "its keys have residual: 0, and here residual: 1; to load it, "
                "write residual: 0 in keys"},
           Case{", residual: 0", ", group: 5",
                "its values have residual: 0, and here residual: 1; to load "
                "it, write residual: 0 in values"},
           Case{", residual: 0, scales: f32", ", group: 5, residual: 0",
                "its keys have scales: f16, and here scales: f32; to load it, "
                "write scales: f16 in keys"},
           Case{", residual: 0", ", group: 50, residual: 0",
                "its values have group: 5, and here group: 50; to load it, "
                "write group: 5 in values"},
       })
    CHECK_EQ(between(old, model +
                              "}\ncache: {window: 40, keys: {bits: 4, per: "
                              "token" +
                              other.keys + "}, values: {bits: 8, per: channel" +
                              other.values + "}}\n"),
             std::string("not loaded: it was made for another spec: ") +
                 other.why);
  CHECK_EQ(between(old, model + "}\ncache: {window: 40, keys: f16, values: "
                                "{bits: 8, per: channel, group: 5}}\n"),
           "not loaded: it was made for another spec: keys original "
           "#kv.float<f32>; here it is keys original #kv.float<f16>");
  // The first position enters rotation: another one is another cache.
  CHECK_EQ(between(from, base, 1),
           "not loaded: its first position is 0, and the cache's is 1");
}

/// Keys that change how it is attended to, and what is around it.
static void testSame() {
  const std::string rotated =
      "model: {layers: 1, heads: 1, head_dim: 4, rope: {theta: 10}}\n"
      "cache: {window: 9, sink: 1, keys: {bits: 4, per: token}}\n";
  CHECK_EQ(
      between(Played(rotated, 6),
              "model: {layers: 2, heads: 3, kv_heads: 1, head_dim: 4, scale: "
              "3, softcap: 5, alibi: true, learned_sinks: true, io: bf16,\n"
              "        rope: {theta: 10}}\n"
              "cache: {window: 9, sink: 1, rollback: 5, positions: cache,\n"
              "  keys: {bits: 4, per: token}, values: f32, sink_type: f32,\n"
              "  residual_type: f32, arithmetic: i16}\n"
              "layers: [{at: 1, share: 0}]\n"),
      "");
  const std::string all = "model: {layers: 2, heads: 1, head_dim: 4}\n"
                          "cache: {window: all, context: ";
  const Played two(all + "20}\n", 6);
  CHECK_EQ(between(two, "model: {layers: 3, heads: 1, head_dim: 4}\ncache: "
                        "{window: all, context: 21}\nlayers: [{at: 1, share: "
                        "0}]\n"),
           "");
  CHECK_EQ(between(two, all + "5}\n"),
           "not loaded: its layer 0 has 6 tokens, and here are at most 5");
  CHECK(!between(two, all + "20}\nlayers: [{at: 1, share: 0}]\n").empty());
}

//===----------------------------------------------------------------------===//
// Hostile ones: lies that keep their checksums
//===----------------------------------------------------------------------===//

/// The format's checksum (runtime/Snapshot.h), of bytes that come in words.
static uint64_t checksumOf(const uint8_t *bytes, size_t count) {
  uint64_t state = 0x6b7663;
  auto mix = [&](uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15;
    state ^= state >> 32;
  };
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    word |= uint64_t{bytes[i]} << i % 8 * 8;
    if (i % 8 != 7)
      continue;
    mix(word);
    word = 0;
  }
  mix(word);
  mix(count);
  return state;
}

static uint64_t wordAt(const Bytes &bytes, size_t at) {
  uint64_t word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}
static void setWord(Bytes &bytes, size_t at, uint64_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

/// One owner: where its length and the header's checksum stand.
static void testHostile() {
  const Played played(std::string(smallModel) +
                          "cache: {keys: f32, values: f32, window: all, "
                          "context: 40}\n",
                      7);
  const Bytes good = played.snapshot();
  const std::vector<Bytes> before = played.state();
  const size_t text = 40, seen = text + wordAt(good, 32), sum = seen + 8;
  if (!CHECK_EQ(wordAt(good, seen), uint64_t{7}) ||
      !CHECK_EQ(wordAt(good, sum), checksumOf(good.data(), sum)))
    return;
  auto refuses = [&](Bytes bad, llvm::StringRef word) {
    setWord(bad, sum, checksumOf(bad.data(), sum));
    const std::string why = played.whyRefused(bad);
    if (!CHECK(!why.empty() && llvm::StringRef(why).contains(word)))
      std::printf("'%s' instead of '%s'\n", why.c_str(), word.str().c_str());
    CHECK(played.state() == before);
  };
  auto with = [&](size_t at, uint64_t word) {
    Bytes bad = good;
    setWord(bad, at, word);
    return bad;
  };
  const uint64_t owners = wordAt(good, 8) >> 32 << 32;
  for (uint64_t version : {uint64_t{0}, uint64_t{2}, uint64_t{0xffffffff}})
    refuses(with(8, owners | version), "version");
  refuses(with(8, 1 | uint64_t{0xffffffff} << 32), "layers");
  refuses(with(8, 1), ""); // no layers
  for (uint64_t first : {uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}})
    refuses(with(16, first), "first position");
  refuses(with(24, wordAt(good, 24) + 1), "hash");
  for (uint64_t length : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 40})
    refuses(with(32, length), "a text of");
  for (uint64_t length : {uint64_t{0}, wordAt(good, 32) - 1, uint64_t{1} << 20})
    refuses(with(32, length), "");
  for (uint64_t tokens :
       {uint64_t{41}, uint64_t{1} << 40, uint64_t{1} << 62, ~uint64_t{0}})
    refuses(with(seen, tokens), "at most 40");
  for (uint64_t tokens : {uint64_t{6}, uint64_t{8}, uint64_t{40}})
    refuses(with(seen, tokens), tokens < 7 ? "checksum" : "");
  // A key that is no number, with the checksum of its stream.
  for (uint32_t number : {0x7f800000u, 0x7fc00000u, 0xff800001u}) {
    Bytes bad = good;
    const size_t keys = sum + 8, count = 7 * 3 * 4;
    std::memcpy(bad.data() + keys + 12, &number, sizeof number);
    setWord(bad, keys + count, checksumOf(bad.data() + keys, count));
    refuses(bad, "not finite");
  }
}

/// A key of originals at 2^57 is taken, as the largest that a rotation may
/// make; what is larger is not, though it is finite. One owner, floats alone.
static void testLargeNumbers() {
  const Played played(std::string(smallModel) + "cache: {window: 9}\n", 7);
  const Bytes good = played.snapshot();
  const size_t keys = 40 + wordAt(good, 32) + 16, values = keys + 7 * 3 * 4 + 8;
  for (auto [begin, count] : {std::pair(keys, 3), std::pair(values, 2)})
    for (auto [number, taken] :
         {std::pair(0x1p57f, true), std::pair(-0x1p57f, true),
          std::pair(std::nextafterf(0x1p57f, INFINITY), false),
          std::pair(-0x1.8p57f, false), std::pair(0x1p120f, false),
          std::pair(-0x1p127f, false)}) {
      Bytes bad = good;
      const auto size = static_cast<size_t>(7 * count * 4);
      std::memcpy(bad.data() + begin + 8, &number, sizeof number);
      setWord(bad, begin + size, checksumOf(bad.data() + begin, size));
      const std::string why = played.whyRefused(bad);
      CHECK_EQ(why.empty(), taken);
      CHECK(taken || why ==
                         "not loaded: layer 0 has numbers that are not finite "
                         "or too large");
      CHECK_EQ(played.whyRefused(good), "");
    }
}

/// Scales and zeros that stand for numbers of no input, and would in sums: a
/// scale of 2^120 whose codes are all 0 makes infinity times 0 of a query.
static void testForgedPairs(const char *type) {
  const bool wide = llvm::StringRef(type) == "f32";
  const Played played(std::string(smallModel) +
                          "cache: {window: 9, keys: {bits: 4, per: token, "
                          "residual: 0, scales: " +
                          type + "}}\n",
                      1);
  const Bytes good = played.snapshot();
  // The keys' originals come first and have none, then the codes: a pair, then
  // three codes.
  const size_t originals = 40 + wordAt(good, 32) + 16, pair = originals + 8,
               size = (wide ? 8 : 4) + 2;
  if (!CHECK_EQ(wordAt(good, pair + size),
                checksumOf(good.data() + pair, size)))
    return;
  const Element element = llvm::StringRef(type) == "f16"    ? Element::F16
                          : llvm::StringRef(type) == "bf16" ? Element::BF16
                                                            : Element::F32;
  auto refuses = [&](float scale, float zero) {
    Bytes bad = good;
    const size_t step = wide ? 4 : 2;
    auto put = [&](size_t at, float number) {
      std::memcpy(bad.data() + at, narrow(element, number).data(), step);
    };
    put(pair, scale);
    put(pair + step, zero);
    setWord(bad, pair + size, checksumOf(bad.data() + pair, size));
    const std::string why = played.whyRefused(bad);
    if (!why.empty())
      CHECK_EQ(why,
               "not loaded: layer 0 has scales or zeros that no codes have");
    return !why.empty();
  };
  const float least = element == Element::F16 ? 0x1p-14f : 0x1p-126f;
  CHECK(!refuses(1, 0));
  CHECK(!refuses(least, -1));
  for (float scale : {0.0f, -0.0f, -1.0f, least / 2, INFINITY, NAN})
    CHECK(refuses(scale, 0));
  for (float zero : {INFINITY, -INFINITY, NAN})
    CHECK(refuses(1, zero));
  if (element == Element::F16)
    return;
  CHECK(!refuses(1, -0x1p57f));
  CHECK(!refuses(0x1p54f, -0x1p57f)); // of 15 steps
  for (float scale : {0x1.2p54f, 0x1p120f})
    CHECK(refuses(scale, 0));
  for (float zero : {0x1.1p57f, -0x1.1p57f, 0x1p120f})
    CHECK(refuses(1, zero));
}

/// The largest input that there is: what comes of it, is loaded.
static void testLargestInput(const std::string &scaling,
                             const std::string &cacheKeys) {
  const Played played("model: {layers: 1, heads: 1, head_dim: 8, scale: 1e-9,\n"
                      "        rope: {theta: 10, dims: 6" +
                          scaling + "}}\n" + cacheKeys,
                      0);
  const float largest = 0x1p56f;
  for (int64_t t = 0; t < 60; ++t) {
    // All signs of the pairs of channels, at many angles.
    TokenInput input;
    for (int64_t i = 0; i < 8; ++i) {
      input.k.push_back(t >> i % 6 & 1 ? largest : -largest);
      input.v.push_back((t + i) % 3 ? largest : -largest);
    }
    CHECK_EQ(append(*played.library, *played.cache, 0,
                    tokensOf(t, input, /*attends=*/false)),
             KVC_OK);
    const Bytes bytes = played.snapshot();
    CHECK_EQ(played.whyRefused(bytes), "");
    CHECK(played.snapshot() == bytes);
  }
}

static void testLargestInput() {
  for (const std::string scaling :
       {"",
        ", scaling: {type: yarn, factor: 4, original_context: 64, "
        "attention_factor: 1000000}",
        ", scaling: {type: yarn, factor: 4, original_context: 64, "
        "attention_factor: 0.001}"})
    for (const std::string type : {"f32", "bf16", "f16"}) {
      testLargestInput(scaling, "cache: {window: 50, keys: " + type +
                                    ", values: " + type +
                                    ", sink: 2, sink_type: " + type + "}\n");
      testLargestInput(
          scaling,
          "cache: {window: 50, keys: {bits: 2, per: channel, group: 4, "
          "scales: " +
              type +
              "}, values: {bits: 8, per: token, group: 4, "
              "scales: " +
              type + "}, residual_type: " + type + "}\n");
    }
}

int main() {
  testLargeNumbers();
  for (const char *type : {"f32", "bf16", "f16"})
    testForgedPairs(type);
  testLargestInput();
  testDamage("cache: {window: all, context: 40}\n", 7);
  testDamage("cache: {keys: {bits: 4, per: channel, group: 4}, values: {bits: "
             "2, per: token, residual: 2}, sink: 2, window: 7}\n",
             19);
  testDamage("cache: {keys: {bits: 8, per: channel, group: all}, values: bf16, "
             "sink: 1, window: 5, rollback: 3}\n",
             12);
  testDamage("cache: {window: 3}\n", 0);
  testHostile();
  testForeign();
  testSame();
  return kvc::test::checkResult();
}
