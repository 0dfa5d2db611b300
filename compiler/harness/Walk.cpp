//===- Walk.cpp - sequences of a library, to be timed ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Walk.h"

#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Inputs.h"
#include "llvm/ADT/STLExtras.h"

#include <chrono>

using namespace llvm;

namespace kvc::harness {

/// Tokens of input that are made, and taken over and over.
static constexpr int64_t inputTokens = 128;
/// What is measured where nobody says, as far as a library goes.
static constexpr int64_t usualTokens[] = {256, 2048, 8192};

static int64_t bytesRead(const kvc_bytes &bytes) {
  return bytes.codes + bytes.scales + bytes.residual + bytes.sinks +
         bytes.originals;
}

//===----------------------------------------------------------------------===//
// A library
//===----------------------------------------------------------------------===//

Candidate::Candidate(LoadedLibrary &&opened)
    : library(std::move(opened)), sinks(makeSinks(1, library.layers())) {
  int64_t queries = 0, keys = 0, values = 0;
  for (const LayerShape &shape : library.layers()) {
    queries = std::max(queries, shape.heads * shape.headDim);
    keys = std::max(keys, shape.kvHeads * shape.headDim);
    values = std::max(values, shape.kvHeads * shape.valueDim);
  }
  Random random(1);
  auto make = [&](int64_t elements) {
    std::vector<float> numbers(elements * inputTokens);
    for (float &number : numbers)
      number = static_cast<float>(random.gaussian());
    return narrow(library.io(), numbers);
  };
  q = make(queries), k = make(keys), v = make(values);
}

const void *Candidate::at(const std::vector<uint8_t> &bytes, int64_t token,
                          int64_t elements) const {
  return bytes.data() +
         token % inputTokens * elements * elementBytes(library.io());
}

int64_t Candidate::limit() const {
  int64_t limit = int64_t{1} << 40;
  for (size_t layer = 0; layer < library.layers().size(); ++layer)
    limit = std::min(limit, library.limit(static_cast<int64_t>(layer)));
  return limit;
}

Expected<int64_t> Candidate::sum(int64_t tokens, bool readers) const {
  int64_t total = 0;
  for (auto [layer, shape] : enumerate(library.layers())) {
    if (!readers && shape.owner != static_cast<int64_t>(layer))
      continue;
    kvc_bytes bytes = {};
    const kvc_status status =
        LibraryCall("plan", shape.owner)
            .run(library->plan, static_cast<int32_t>(shape.owner), tokens,
                 &bytes);
    if (status != KVC_OK)
      return userError(Twine(library.info().name) + ": plan of layer " +
                       Twine(shape.owner) + ": " +
                       library->status_name(status) + ": " +
                       library->last_error(nullptr));
    total += bytesRead(bytes);
  }
  return total;
}

Expected<int64_t> Candidate::planned(int64_t tokens) const {
  return sum(tokens, /*readers=*/true);
}

Expected<int64_t> Candidate::stored(int64_t tokens) const {
  return sum(tokens, /*readers=*/false);
}

Expected<std::vector<int64_t>> Candidate::usualLengths(int64_t memory) const {
  std::vector<int64_t> lengths;
  int64_t before = 0;
  for (int64_t tokens : usualTokens) {
    tokens = std::min(tokens, limit());
    auto bytes = stored(tokens);
    if (!bytes)
      return bytes.takeError();
    if (!lengths.empty() && (tokens == lengths.back() || *bytes > memory))
      break;
    lengths.push_back(tokens);
    // A group of scales more or less is no growth.
    if (static_cast<double>(*bytes) < 1.1 * static_cast<double>(before))
      break;
    before = *bytes;
  }
  return lengths;
}

//===----------------------------------------------------------------------===//
// Its sequences
//===----------------------------------------------------------------------===//

Walk::Walk(const Candidate &candidate, int64_t threads)
    : candidate(candidate), library(candidate.library), threads(threads) {
  int64_t most = 0;
  for (const LayerShape &shape : library.layers())
    most = std::max(most, shape.heads * shape.valueDim);
  out.resize(most * elementBytes(library.io()));
}

Error Walk::failed(const LibraryCache &cache, const char *function,
                   size_t layer, kvc_status status) const {
  return userError(Twine(library.info().name) + ": " + function + " of layer " +
                   Twine(layer) + " at position " + Twine(position) + ": " +
                   library->status_name(status) + ": " + cache.lastError());
}

Error Walk::create() {
  std::vector<const float *> pointers;
  for (const std::vector<float> &layer : candidate.sinks)
    pointers.push_back(layer.empty() ? nullptr : layer.data());
  kvc_options options = {};
  options.threads = static_cast<int32_t>(threads);
  if (any_of(pointers, [](const float *p) { return p; }))
    options.learned_sinks = pointers.data();
  auto cache = library.create(options);
  if (!cache)
    return cache.takeError();
  caches.push_back(std::move(*cache));
  return Error::success();
}

/// The next tokens of all owners of all sequences.
Error Walk::append(int64_t count) {
  for (const LibraryCache &cache : caches)
    for (auto [layer, shape] : enumerate(library.layers())) {
      if (shape.owner != static_cast<int64_t>(layer))
        continue;
      kvc_chunk chunk = {};
      chunk.cache = cache.get();
      chunk.layer = static_cast<int32_t>(layer);
      chunk.position = position;
      chunk.tokens = count;
      chunk.k =
          candidate.at(candidate.k, position, shape.kvHeads * shape.headDim);
      chunk.v =
          candidate.at(candidate.v, position, shape.kvHeads * shape.valueDim);
      const kvc_status status = LibraryCall("append", shape.owner, position)
                                    .run(library->append, &chunk, 1);
      if (status != KVC_OK)
        return failed(cache, "append", layer, status);
    }
  position += count;
  return Error::success();
}

Error Walk::fill(int64_t tokens) {
  int64_t most = inputTokens;
  for (size_t layer = 0; layer < library.layers().size(); ++layer)
    if (int64_t chunk = library.chunk(static_cast<int64_t>(layer)); chunk >= 0)
      most = std::clamp<int64_t>(chunk, 1, most);
  while (position < tokens)
    if (Error error = append(std::min(
            {most, tokens - position, inputTokens - position % inputTokens})))
      return error;
  return Error::success();
}

Error Walk::prepare(int64_t count, int64_t tokens, int64_t rounds,
                    int64_t stepsARound) {
  end = tokens;
  // Whole rounds, so that one of them ends at that length.
  steps = std::min(rounds, tokens / stepsARound) * stepsARound;
  if (steps == 0)
    steps = tokens;
  // What is there grows on; sequences that are new begin at 0, all together.
  if (static_cast<int64_t>(caches.size()) < count || position > end - steps) {
    caches.clear();
    position = 0;
  }
  while (static_cast<int64_t>(caches.size()) > count)
    caches.pop_back();
  while (static_cast<int64_t>(caches.size()) < count)
    if (Error error = create())
      return error;
  return fill(end - steps);
}

Expected<double> Walk::step() {
  if (position == end) {
    for (const LibraryCache &cache : caches)
      LibraryCall("reset").run(library->reset, cache.get());
    position = 0;
    if (Error error = fill(end - steps))
      return error;
  }
  const auto start = std::chrono::steady_clock::now();
  for (const LibraryCache &cache : caches)
    for (auto [layer, shape] : enumerate(library.layers())) {
      const bool reader = shape.owner != static_cast<int64_t>(layer);
      kvc_step step = {};
      step.cache = cache.get();
      step.layer = static_cast<int32_t>(layer);
      step.position = position;
      step.q = candidate.at(candidate.q, position, shape.heads * shape.headDim);
      if (!reader) {
        step.k =
            candidate.at(candidate.k, position, shape.kvHeads * shape.headDim);
        step.v =
            candidate.at(candidate.v, position, shape.kvHeads * shape.valueDim);
      }
      step.out = out.data();
      const kvc_status status =
          LibraryCall("decode", static_cast<int64_t>(layer), position)
              .run(library->decode, &step, 1);
      if (status != KVC_OK)
        return failed(cache, "decode", layer, status);
    }
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  ++position;
  return took.count() / static_cast<double>(caches.size());
}

Error Walk::measure(int64_t &bytes, int64_t &attends) const {
  bytes = attends = 0;
  for (auto [layer, shape] : enumerate(library.layers())) {
    kvc_stats stats = {};
    stats.size = sizeof stats;
    const kvc_status status =
        LibraryCall("stats", shape.owner)
            .run(library->stats, caches.front().get(),
                 static_cast<int32_t>(shape.owner), &stats);
    if (status != KVC_OK)
      return failed(caches.front(), "stats", layer, status);
    bytes += bytesRead(stats.used);
    attends += stats.stored;
  }
  return Error::success();
}

} // namespace kvc::harness
