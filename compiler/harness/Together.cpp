//===- Together.cpp - sequences that share calls or threads ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Together.h"

#include "compiler/harness/Calls.h"
#include "compiler/harness/Crash.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace llvm;

namespace kvc::harness {

namespace {

constexpr int64_t sequences = 3;

/// Queries of one sequence as of some tokens before its newest, over tokens
/// [from, to).
struct Query {
  int64_t back, count, from, to;
};

/// A round: so many tokens of each sequence, 0 to a few dozen; and what is
/// asked then.
struct Round {
  int64_t counts[sequences];
  Query queries[sequences];
};

/// How the sequences are run.
struct Manner {
  const char *name;
  bool together;
  int32_t threads;
  bool parallelFor;
  /// Each call under another float environment; that of the parallel-for's
  /// threads is yet another.
  bool odd;
};

constexpr Manner manners[] = {
    {"alone", false, 1, false, false},
    {"alone in odd float environments", false, 1, false, true},
    {"together", true, 1, false, false},
    {"together on 2 threads", true, 2, false, true},
    {"together on 7 threads", true, 7, false, true},
    {"alone on 2 threads", false, 2, false, false},
    {"together by a parallel-for", true, 0, true, true}};

/// All that some sequences gave, to be compared bit by bit.
struct Result {
  std::vector<Output> outputs;
  std::vector<std::vector<float>> stored;
  std::string error;
};

class Together {
public:
  Together(const LoadedLibrary &library, uint64_t seed, int64_t least);
  std::string run();

private:
  void chooseRounds(int64_t least);
  Tokens tokens(int64_t sequence, int64_t layer, int64_t from,
                int64_t count) const;
  bool isReader(int64_t layer) const {
    return library.layers()[layer].owner != layer;
  }
  bool runRound(const Manner &manner, ArrayRef<LibraryCache> caches,
                const Round &round, ArrayRef<int64_t> done, int64_t layer,
                Result &result) const;
  bool runQueries(const Manner &manner, ArrayRef<LibraryCache> caches,
                  const Round &round, ArrayRef<int64_t> newest, int64_t layer,
                  Result &result) const;
  void readAll(ArrayRef<LibraryCache> caches, Result &result) const;
  Result runIn(const Manner &manner) const;

  const LoadedLibrary &library;
  uint64_t seed;
  std::vector<Round> rounds;
};

} // namespace

/// As threads of a host's would run them: under what it set there.
static void runBackwards(void *user, int64_t count, kvc_body body,
                         void *context) {
  ++*static_cast<int64_t *>(user);
  const kvc_float_registers mine = kvc_floats_read();
  kvc_floats_set(static_cast<uint64_t>(count) % KVC_FLOATS_SETTINGS);
  while (count > 0)
    body(context, --count);
  kvc_floats_write(mine);
}

Together::Together(const LoadedLibrary &library, uint64_t seed, int64_t least)
    : library(library), seed(seed) {
  chooseRounds(least);
}

/// Within what each layer takes; tokens beyond a context would be refused.
void Together::chooseRounds(int64_t least) {
  Random random(seed);
  int64_t most = 64, room = std::max<int64_t>(least, 90);
  for (size_t layer = 0; layer < library.layers().size(); ++layer) {
    if (int64_t chunk = library.chunk(static_cast<int64_t>(layer)); chunk >= 0)
      most = std::min(most, chunk);
    room = std::min(room, library.limit(static_cast<int64_t>(layer)));
  }
  int64_t done[sequences] = {};
  for (int i = 0; i < 8 || done[0] < std::min(room, least); ++i) {
    Round round;
    for (int64_t s = 0; s < sequences; ++s) {
      const int64_t wanted =
          done[0] < least ? most : random.pick({0, 1, 1, 2, most});
      round.counts[s] = std::min({wanted, most, room - done[s]});
      done[s] += round.counts[s];
      Query &query = round.queries[s];
      query.back = random.pick({0, 1, 2, 7, 40, 150});
      query.count = random.pick({1, 2, 3, 50});
      const int64_t first = std::max<int64_t>(0, done[s] - query.back);
      query.from = random.oneIn(2) ? 0 : random.between(0, first + 1);
      query.to = random.oneIn(2) ? room : query.from + random.between(0, 60);
    }
    rounds.push_back(round);
  }
}

Tokens Together::tokens(int64_t sequence, int64_t layer, int64_t from,
                        int64_t count) const {
  Tokens tokens;
  tokens.position = from;
  tokens.count = count;
  auto add = [](std::vector<float> &to, const std::vector<float> &more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  for (int64_t i = 0; i < count; ++i) {
    const TokenInput input = makeInput(
        InputKind::Gaussian, seed + static_cast<uint64_t>(sequence), layer,
        from + i, library.layers()[layer], !isReader(layer), library.io());
    add(tokens.q, input.q);
    add(tokens.k, input.k);
    add(tokens.v, input.v);
  }
  return tokens;
}

bool Together::runRound(const Manner &manner, ArrayRef<LibraryCache> caches,
                        const Round &round, ArrayRef<int64_t> done,
                        int64_t layer, Result &result) const {
  std::vector<CallBuffers> buffers;
  std::vector<kvc_chunk> chunks;
  buffers.reserve(sequences);
  for (int64_t s = 0; s < sequences; ++s) {
    buffers.emplace_back(library, layer,
                         tokens(s, layer, done[s], round.counts[s]));
    chunks.push_back(buffers.back().chunk(caches[s].get(), /*attends=*/true));
  }
  kvc_status status = KVC_OK;
  if (manner.together)
    status = LibraryCall("prefill", layer)
                 .run(library->prefill, chunks.data(), chunks.size());
  for (kvc_chunk &chunk : chunks)
    if (!manner.together && status == KVC_OK)
      status = LibraryCall("prefill", layer).run(library->prefill, &chunk, 1);
  if (status != KVC_OK) {
    result.error = formatv("{0}: prefill of layer {1} fails: {2}", manner.name,
                           layer, library->status_name(status));
    return false;
  }
  for (const CallBuffers &buffer : buffers)
    result.outputs.push_back(buffer.output());
  return true;
}

/// What was there then may be gone: that is a result like any other.
bool Together::runQueries(const Manner &manner, ArrayRef<LibraryCache> caches,
                          const Round &round, ArrayRef<int64_t> newest,
                          int64_t layer, Result &result) const {
  std::vector<CallBuffers> buffers;
  std::vector<kvc_query> queries;
  buffers.reserve(sequences);
  for (int64_t s = 0; s < sequences; ++s) {
    const Query &query = round.queries[s];
    Tokens asked = tokens(s, layer, newest[s], query.count);
    asked.position = std::max<int64_t>(0, newest[s] - 1 - query.back);
    asked.k.clear();
    asked.v.clear();
    buffers.emplace_back(library, layer, asked);
    queries.push_back(buffers.back().query(caches[s].get(), query.from,
                                           std::max(query.from, query.to),
                                           /*withSinks=*/false));
  }
  if (manner.together)
    LibraryCall("attend", layer)
        .run(library->attend, queries.data(), queries.size());
  for (auto [query, buffer] : zip(queries, buffers)) {
    if (!manner.together)
      LibraryCall("attend", layer).run(library->attend, &query, 1);
    if (query.status != KVC_OK && query.status != KVC_GONE) {
      result.error = formatv("{0}: attend of layer {1} fails: {2}", manner.name,
                             layer, library->status_name(query.status));
      return false;
    }
    Output output = query.status == KVC_OK ? buffer.partOutput() : Output();
    result.outputs.push_back(std::move(output));
  }
  return true;
}

void Together::readAll(ArrayRef<LibraryCache> caches, Result &result) const {
  for (const LibraryCache &cache : caches)
    for (size_t layer = 0; layer < library.layers().size(); ++layer) {
      const auto number = static_cast<int32_t>(layer);
      const LayerShape &shape = library.layers()[layer];
      int64_t stored = 0;
      if (isReader(number) ||
          LibraryCall("stored", number)
              .run(library->stored, cache.get(), number, &stored))
        continue;
      std::vector<float> keys(shape.kvHeads * stored * shape.headDim);
      std::vector<float> values(shape.kvHeads * stored * shape.valueDim);
      if (LibraryCall("read", number)
              .run(library->read, cache.get(), number, int64_t(0), stored,
                   keys.data(), values.data(), (int64_t *)nullptr))
        result.error = "read fails";
      result.stored.push_back(std::move(keys));
      result.stored.push_back(std::move(values));
    }
}

Result Together::runIn(const Manner &manner) const {
  CallSettings settings(manner.odd);
  Result result;
  std::vector<LibraryCache> caches;
  int64_t calls = 0;
  const LearnedSinks sinks = makeSinks(seed, library.layers());
  std::vector<const float *> sinkPointers;
  for (const std::vector<float> &layer : sinks)
    sinkPointers.push_back(layer.empty() ? nullptr : layer.data());
  for (int64_t s = 0; s < sequences; ++s) {
    kvc_options options = {};
    if (any_of(sinkPointers, [](const float *layer) { return layer; }))
      options.learned_sinks = sinkPointers.data();
    options.threads = manner.threads;
    if (manner.parallelFor) {
      options.parallel_for = runBackwards;
      options.parallel_for_user = &calls;
    }
    auto cache = library.create(options);
    if (!cache) {
      result.error = toString(cache.takeError());
      return result;
    }
    caches.push_back(std::move(*cache));
  }
  SmallVector<int64_t> done(sequences, 0);
  const auto layers = static_cast<int64_t>(library.layers().size());
  for (const Round &round : rounds) {
    for (int64_t layer = 0; layer < layers; ++layer)
      if (!runRound(manner, caches, round, done, layer, result))
        return result;
    for (int64_t s = 0; s < sequences; ++s)
      done[s] += round.counts[s];
    for (int64_t layer = 0; layer < layers; ++layer)
      if (!runQueries(manner, caches, round, done, layer, result))
        return result;
  }
  readAll(caches, result);
  if (manner.parallelFor && calls == 0)
    result.error = "the parallel-for was never called";
  return result;
}

static bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), 4 * a.size()) == 0);
}

std::string Together::run() {
  Result alone;
  for (const Manner &manner : manners) {
    // A function of this process cannot be called from another.
    if (manner.parallelFor && library.isRemote())
      continue;
    Result result = runIn(manner);
    if (!result.error.empty())
      return result.error;
    if (&manner == manners) {
      alone = std::move(result);
      continue;
    }
    // Of a round all layers' tokens, then all layers' queries.
    const size_t layers = library.layers().size();
    for (size_t i = 0; i < alone.outputs.size(); ++i)
      if (!sameBits(result.outputs[i].out, alone.outputs[i].out) ||
          !sameBits(result.outputs[i].lse, alone.outputs[i].lse))
        return formatv(
            "{0}: outputs differ from those of each sequence alone "
            "({1} of round {2}, layer {3}, sequence {4})",
            manner.name, i / sequences / layers % 2 ? "queries" : "tokens",
            i / sequences / layers / 2, i / sequences % layers, i % sequences);
    for (size_t i = 0; i < alone.stored.size(); ++i)
      if (!sameBits(result.stored[i], alone.stored[i]))
        return formatv("{0}: what is stored differs from that of each sequence "
                       "alone",
                       manner.name);
  }
  return "";
}

std::string compareTogether(const LoadedLibrary &library, uint64_t seed,
                            int64_t least) {
  return Together(library, seed, least).run();
}

} // namespace kvc::harness
