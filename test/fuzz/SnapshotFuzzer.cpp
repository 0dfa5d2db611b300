//===- SnapshotFuzzer.cpp - any bytes as a snapshot -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An input is a snapshot's bytes, or, where its first byte says so, changes to
// a good one. It is loaded as it is, and with checksums that are put right.
// What is refused changes nothing; what is loaded is a cache like any other,
// whose snapshot is what was loaded.
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "runtime/Snapshot.h"
#include "test/unit/RuntimeTestMirror.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

using namespace kvc;
using namespace kvc::test;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int32_t all[] = {AllFloats, AllReader, StreamCoded, StreamReader,
                           Narrow,    Sunk,      Remade,      RemadeReader};

/// A snapshot that is being read; a stream may end anywhere.
struct Source {
  const Bytes &bytes;
  size_t at = 0;

  static size_t read(void *user, void *to, size_t count) {
    auto &source = *static_cast<Source *>(user);
    count = std::min(count, source.bytes.size() - source.at);
    if (count)
      std::memcpy(to, source.bytes.data() + source.at, count);
    source.at += count;
    return count;
  }
};

Bytes save(kvc_cache *cache) {
  Bytes bytes;
  auto write = [](void *user, const void *from, size_t count) {
    auto *at = static_cast<const uint8_t *>(from);
    auto &bytes = *static_cast<Bytes *>(user);
    bytes.insert(bytes.end(), at, at + count);
    return 0;
  };
  require(library().save_to(cache, write, &bytes) == KVC_OK, "no snapshot");
  return bytes;
}

void take(const Cache &cache, int64_t from, int64_t count) {
  for (int64_t t = from; t < from + count; ++t)
    for (int32_t layer : all)
      require(decode(cache, layer, t) == KVC_OK, "a step is refused");
}

/// The snapshot of a cache of so many tokens.
const Bytes &good(int64_t length) {
  static std::vector<std::unique_ptr<Bytes>> made(32);
  auto &bytes = made[static_cast<size_t>(length)];
  if (!bytes) {
    Cache cache;
    take(cache, 0, length);
    bytes = std::make_unique<Bytes>(save(cache));
  }
  return *bytes;
}

/// Whether the input is changes to a good snapshot.
bool isChanges(const uint8_t *data, size_t size) {
  return size > 0 && data[0] < 64;
}

/// What the input stands for.
Bytes snapshotOf(const uint8_t *data, size_t size) {
  if (!isChanges(data, size))
    return {data, data + size};
  Bytes bytes = good(data[0] % 32);
  if (data[0] >= 32)
    bytes.resize(bytes.size() - std::min(bytes.size(), size_t{data[0]} * 7));
  for (size_t i = 1; i + 3 <= size && !bytes.empty(); i += 3)
    bytes[(data[i] | size_t{data[i + 1]} << 8) % bytes.size()] ^= data[i + 2];
  return bytes;
}

uint64_t number(const Bytes &bytes, size_t at) {
  uint64_t value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

uint64_t sumOf(const Bytes &bytes, size_t begin, size_t end) {
  runtime::Checksum sum;
  sum.add(bytes.data() + begin, static_cast<int64_t>(end - begin));
  return sum.value();
}

/// Writes the right checksum behind [begin, end); false where the bytes end.
bool putSum(Bytes &bytes, size_t begin, size_t end) {
  if (end < begin || end > bytes.size() || bytes.size() - end < 8)
    return false;
  const uint64_t sum = sumOf(bytes, begin, end);
  std::memcpy(bytes.data() + end, &sum, sizeof(sum));
  return true;
}

/// Puts right what holds off inputs that are made by chance.
void mend(Bytes &bytes) {
  constexpr size_t start = runtime::snapshotStart;
  if (bytes.size() < start)
    return;
  const uint64_t owners = number(bytes, 8) >> 32, text = number(bytes, 32);
  if (owners > 64 || text > bytes.size() - start)
    return;
  const uint64_t hash = sumOf(bytes, start, start + text);
  std::memcpy(bytes.data() + 24, &hash, sizeof(hash));
  size_t at = start + text + 8 * owners;
  if (!putSum(bytes, 0, at) ||
      owners != static_cast<uint64_t>(runtime::countOwners()))
    return;
  size_t length = start + text;
  int64_t last = -1;
  at += 8;
  runtime::forSnapshotParts([&](int64_t layer, int64_t stream) {
    if (last >= 0 && layer != last)
      length += 8;
    last = layer;
    const uint64_t seen = number(bytes, length);
    if (seen > 1 << 20)
      return KVC_SNAPSHOT;
    const int64_t takes =
        runtime::SnapshotPart(layer, stream, static_cast<int64_t>(seen))
            .bytes();
    const size_t end = at + static_cast<size_t>(takes) - 8;
    if (!putSum(bytes, at, end))
      return KVC_SNAPSHOT;
    at = end + 8;
    return KVC_OK;
  });
}

/// All that a cache does, where it holds whatever was loaded.
void use(const Cache &cache) {
  for (int32_t layer : all) {
    if (reads(layer))
      continue;
    int64_t stored = 0;
    require(library().stored(cache, layer, &stored) == KVC_OK, "no length");
    std::vector<float> keys(stored * kvHeads * headDim),
        values(stored * kvHeads * valueDim);
    require(library().read(cache, layer, 0, stored, keys.data(), values.data(),
                           nullptr) == KVC_OK,
            "what is stored is not read");
    // Keys of this model that were made anew have their length subtracted.
    for (const std::vector<float> *numbers : {&keys, &values})
      for (float number : *numbers)
        require(std::fabs(number) <= 0x1p58f, "a number that no input makes");
    const int64_t seen = cache.stats(layer).seen;
    for (int64_t t = seen; t < seen + 12; ++t)
      decode(cache, layer, t);
    library().truncate(cache, seen);
  }
}

void load(const Bytes &bytes) {
  Cache cache;
  take(cache, 0, 3);
  const Bytes before = save(cache);
  Source source{bytes};
  const int64_t wrong = wrongPairs;
  const kvc_status status = library().load_from(cache, Source::read, &source);
  if (status != KVC_OK) {
    require(status == KVC_SNAPSHOT || status == KVC_OUT_OF_MEMORY,
            "refused for no reason that there is");
    require(!cache.error().empty(), "refused without a word");
    require(save(cache) == before, "refused, and the cache is another");
    use(cache);
    return;
  }
  const Bytes again = save(cache);
  // Pairs of the model's are none: it only tells which were wrong.
  require(wrongPairs != wrong ||
              (again.size() == source.at &&
               std::memcmp(again.data(), bytes.data(), again.size()) == 0),
          "its snapshot is not what was loaded");
  use(cache);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes bytes = snapshotOf(data, size);
  // That a change is found out by its checksum, a unit test tries with each
  // bit.
  if (!isChanges(data, size))
    load(bytes);
  mend(bytes);
  load(bytes);
  require(failures == 0, "a check fails");
  return 0;
}
