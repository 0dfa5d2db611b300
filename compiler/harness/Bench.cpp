//===- Bench.cpp - kvc bench: what a token costs --------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Machines are noisy, so only what was measured side by side is compared: a
// round reads memory, then takes every library in turn; ratios and shares are
// formed within a round, and the median of all rounds is reported. In a model
// its weights pass between two steps and leave nothing of the KV cache in the
// processor's. Here a round walks through more sequences than it holds.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Bench.h"

#include "compiler/harness/Bandwidth.h"
#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Inputs.h"
#include "compiler/harness/LoadedLibrary.h"
#include "compiler/harness/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <chrono>
#include <map>

using namespace llvm;

namespace kvc::harness {

namespace {

/// Tokens of input that are made, and taken over and over.
constexpr int64_t inputTokens = 128;
/// Sequences of one library at the most.
constexpr int64_t mostCaches = 1024;
/// What is measured where nobody says, as far as a library goes.
constexpr int64_t usualTokens[] = {256, 2048, 8192};

/// Bytes that a step reads of those that a layer keeps: not what rollback
/// holds.
int64_t bytesRead(const kvc_bytes &bytes) {
  return bytes.codes + bytes.scales + bytes.residual + bytes.sinks +
         bytes.originals;
}

/// A library and input for it.
class Candidate {
public:
  explicit Candidate(LoadedLibrary &&opened);

  /// Most tokens that every layer takes.
  int64_t limit() const;
  /// Of all layers, readers included, for a sequence of so many tokens.
  Expected<int64_t> planned(int64_t tokens) const;
  /// The same, each byte once.
  Expected<int64_t> stored(int64_t tokens) const;
  Expected<std::vector<int64_t>> usualLengths(int64_t memory) const;

  LoadedLibrary library;

private:
  friend class Walk;
  Expected<int64_t> sum(int64_t tokens, bool readers) const;
  const void *at(const std::vector<uint8_t> &bytes, int64_t token,
                 int64_t elements) const {
    return bytes.data() +
           token % inputTokens * elements * elementBytes(library.io());
  }

  LearnedSinks sinks;
  std::vector<uint8_t> q, k, v;
};

/// The sequences of one library that a round walks through, on so many
/// threads. All have the same length.
class Walk {
public:
  Walk(const Candidate &candidate, int64_t threads)
      : candidate(candidate), library(candidate.library), threads(threads) {
    int64_t most = 0;
    for (const LayerShape &shape : library.layers())
      most = std::max(most, shape.heads * shape.valueDim);
    out.resize(most * elementBytes(library.io()));
  }

  /// `count` sequences of `tokens` tokens less `steps`.
  Error prepare(int64_t count, int64_t tokens, int64_t steps);
  /// Seconds a token of one step of all sequences, in all layers. At the
  /// length that was asked for they begin anew.
  Expected<double> step();
  int64_t length() const { return position; }
  /// Of one sequence now, readers included: what a step has read, and tokens
  /// that it attended to.
  Error measure(int64_t &bytes, int64_t &attends) const;

private:
  Error failed(const LibraryCache &cache, const char *function, size_t layer,
               kvc_status status) const {
    return userError(Twine(library.info().name) + ": " + function +
                     " of layer " + Twine(layer) + " at position " +
                     Twine(position) + ": " + library->status_name(status) +
                     ": " + cache.lastError());
  }
  Error create();
  Error append(int64_t count);
  Error fill(int64_t tokens);

  const Candidate &candidate;
  const LoadedLibrary &library;
  int64_t threads;
  std::vector<LibraryCache> caches;
  std::vector<uint8_t> out;
  int64_t position = 0, end = 0, steps = 0;
};

} // namespace

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

/// The usual lengths as far as the library takes them and memory holds them, up
/// to the first where no more is stored: behind a window nothing changes.
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

Error Walk::prepare(int64_t count, int64_t tokens, int64_t rounds) {
  end = tokens;
  steps = std::min(rounds, tokens);
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

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

static Spread spreadOf(std::vector<double> values) {
  sort(values);
  const size_t last = values.size() - 1;
  // Of an even number of values the median is the mean of two.
  const double median = (values[last / 2] + values[values.size() / 2]) / 2;
  return {median, values[last / 10], values[last - last / 10]};
}

namespace {
/// What the rounds of one row gave.
struct Samples {
  std::vector<double> seconds, rates, shares, ratios;
};

class Bench {
public:
  Bench(const BenchOptions &options)
      : options(options), memory(memoryBytes() / 2),
        bandwidth(
            std::min<int64_t>(4 * lastLevelCacheBytes(), int64_t{1} << 30)) {
    result.rounds = options.rounds;
    result.cache = lastLevelCacheBytes();
    result.walk = options.walk < 0 ? 2 * result.cache : options.walk;
  }

  Error open(bool &ourFault);
  Error run();
  BenchResult take() { return std::move(result); }

private:
  Error chooseLengths();
  Error planRows(int64_t tokens);
  /// `rows` have one length.
  Error runLength(MutableArrayRef<BenchRow> rows);
  Error runRound(MutableArrayRef<BenchRow> rows,
                 MutableArrayRef<Samples> samples);

  const BenchOptions &options;
  const int64_t memory; ///< bytes that all sequences may take together
  Bandwidth bandwidth;
  BenchResult result;
  std::vector<std::unique_ptr<Candidate>> candidates;
  std::vector<std::vector<int64_t>> lengths; ///< by candidate
  /// By candidate and threads.
  std::map<std::pair<size_t, int64_t>, Walk> walks;
  std::map<int64_t, std::pair<std::vector<double>, std::vector<double>>>
      streams; ///< by threads: one, four
  Progress progress;
};
} // namespace

Error Bench::open(bool &ourFault) {
  for (const std::string &subject : options.subjects) {
    progress.show("opening " + subject);
    std::unique_ptr<Model> model;
    auto library = openOrCompile(subject, options.target, "", model, ourFault);
    if (!library)
      return library.takeError();
    if (library->isRemote())
      return userError("'" + subject +
                       "' is for another machine: under an "
                       "emulator no time means anything");
    result.libraries.push_back({subject, library->info().name,
                                library->info().target, library->info().layers,
                                library->info().kernels});
    candidates.push_back(std::make_unique<Candidate>(std::move(*library)));
  }
  return chooseLengths();
}

Error Bench::chooseLengths() {
  for (auto [candidate, about] : zip(candidates, result.libraries)) {
    if (options.tokens.empty()) {
      auto usual = candidate->usualLengths(
          memory /
          static_cast<int64_t>(candidates.size() * options.threads.size()));
      if (!usual)
        return usual.takeError();
      lengths.push_back(std::move(*usual));
      continue;
    }
    const int64_t limit = candidate->limit();
    for (int64_t tokens : options.tokens)
      if (tokens > limit)
        return userError("'" + about.subject + "' takes " + Twine(limit) +
                         " tokens at the most, not " + Twine(tokens));
    lengths.push_back(options.tokens);
  }
  return Error::success();
}

/// Rows of all that have this length, and how many sequences each walks.
Error Bench::planRows(int64_t tokens) {
  uint64_t needed = 0;
  for (auto [number, candidate] : enumerate(candidates)) {
    if (!is_contained(lengths[number], tokens))
      continue;
    auto bytes = candidate->planned(tokens);
    if (!bytes)
      return bytes.takeError();
    auto stored = candidate->stored(tokens);
    if (!stored)
      return stored.takeError();
    const int64_t caches = std::clamp<int64_t>(
        divideCeil(result.walk, std::max<int64_t>(*stored, 1)), 1, mostCaches);
    for (int64_t threads : options.threads) {
      result.rows.push_back(
          {number, threads, tokens, caches, caches * *stored, *bytes, 0, {}});
      needed = SaturatingMultiplyAdd<uint64_t>(caches, *stored, needed);
    }
  }
  if (needed > static_cast<uint64_t>(memory))
    return userError("the libraries' caches at " + Twine(tokens) +
                     " tokens take " + Twine(needed >> 20) +
                     " MiB together, more than half of this machine's memory; "
                     "give fewer --tokens, libraries or --threads");
  return Error::success();
}

Error Bench::runRound(MutableArrayRef<BenchRow> rows,
                      MutableArrayRef<Samples> samples) {
  std::map<int64_t, double> best;
  for (int64_t threads : options.threads) {
    const double one = bandwidth.read(threads, 1);
    const double four = bandwidth.read(threads, 4);
    streams[threads].first.push_back(one);
    streams[threads].second.push_back(four);
    best[threads] = std::max(one, four);
  }
  double first = 0;
  for (auto [row, of] : zip(rows, samples)) {
    Walk &walk = walks.at({row.library, row.threads});
    auto seconds = walk.step();
    if (!seconds)
      return seconds.takeError();
    auto bytes = candidates[row.library]->planned(walk.length());
    if (!bytes)
      return bytes.takeError();
    if (first == 0)
      first = *seconds;
    of.seconds.push_back(*seconds);
    of.rates.push_back(static_cast<double>(*bytes) / *seconds);
    of.shares.push_back(of.rates.back() / best[row.threads]);
    of.ratios.push_back(*seconds / first);
    if (walk.length() != row.tokens)
      continue;
    int64_t used = 0;
    if (Error error = walk.measure(used, row.attends))
      return error;
    if (used != row.bytes)
      return userError("'" + result.libraries[row.library].subject +
                       "' stores " + Twine(used) + " bytes at " +
                       Twine(row.tokens) + " tokens, its plan says " +
                       Twine(row.bytes));
  }
  return Error::success();
}

Error Bench::runLength(MutableArrayRef<BenchRow> rows) {
  const int64_t tokens = rows.front().tokens;
  for (BenchRow &row : rows) {
    const Candidate &candidate = *candidates[row.library];
    progress.show(Twine(candidate.library.info().name) + ": to " +
                  Twine(tokens) + " tokens");
    Walk &walk =
        walks.try_emplace({row.library, row.threads}, candidate, row.threads)
            .first->second;
    if (Error error = walk.prepare(row.caches, tokens, options.rounds))
      return error;
  }
  std::vector<Samples> samples(rows.size());
  streams.clear();
  for (int64_t round = 1; round <= options.rounds; ++round) {
    progress.show(Twine(tokens) + " tokens: round " + Twine(round) + " of " +
                  Twine(options.rounds));
    if (Error error = runRound(rows, samples))
      return error;
  }
  for (auto [row, of] : zip(rows, samples)) {
    row.seconds = spreadOf(std::move(of.seconds));
    row.bytesPerSecond = spreadOf(std::move(of.rates)).median;
    row.share = spreadOf(std::move(of.shares)).median;
    row.ratio = spreadOf(std::move(of.ratios)).median;
  }
  for (auto &[threads, read] : streams)
    result.bandwidth.push_back({tokens, threads,
                                spreadOf(std::move(read.first)).median,
                                spreadOf(std::move(read.second)).median});
  return Error::success();
}

Error Bench::run() {
  std::vector<int64_t> all;
  for (const std::vector<int64_t> &some : lengths)
    all.insert(all.end(), some.begin(), some.end());
  sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (int64_t tokens : all)
    if (Error error = planRows(tokens))
      return error;
  MutableArrayRef<BenchRow> rest = result.rows;
  while (!rest.empty()) {
    auto rows = rest.take_while(
        [&](const BenchRow &row) { return row.tokens == rest.front().tokens; });
    if (Error error = runLength(rows))
      return error;
    rest = rest.drop_front(rows.size());
  }
  return Error::success();
}

Expected<BenchResult> bench(const BenchOptions &options, bool &ourFault) {
  Trial trial("", outs());
  Bench bench(options);
  if (Error error = bench.open(ourFault))
    return error;
  if (Error error = bench.run())
    return error;
  return bench.take();
}

} // namespace kvc::harness
