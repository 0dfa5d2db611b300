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
#include "compiler/harness/Progress.h"
#include "compiler/harness/Walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>
#include <tuple>

using namespace llvm;

namespace kvc::harness {

/// Sequences of one library at the most.
static constexpr int64_t mostCaches = 1024;

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
  /// Rows that are measured in the same rounds.
  Error runRows(MutableArrayRef<BenchRow> rows);
  Expected<double> stepRow(BenchRow &row);
  Error runRound(int64_t round, MutableArrayRef<BenchRow> rows,
                 MutableArrayRef<Samples> samples);
  std::tuple<size_t, int64_t, int64_t> walkOf(const BenchRow &row) const {
    return {row.library, row.threads, options.interleave ? row.tokens : 0};
  }

  const BenchOptions &options;
  const int64_t memory; ///< bytes that all sequences may take together
  Bandwidth bandwidth;
  BenchResult result;
  std::vector<std::unique_ptr<Candidate>> candidates;
  std::vector<std::vector<int64_t>> lengths; ///< by candidate
  /// By candidate, threads and, where lengths take turns, length.
  std::map<std::tuple<size_t, int64_t, int64_t>, Walk> walks;
  uint64_t needed = 0; ///< bytes of all sequences that there are at once
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
  if (!options.interleave)
    needed = 0;
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
    return userError("the libraries' caches at " +
                     Twine(options.interleave ? "up to " : "") + Twine(tokens) +
                     " tokens take " + Twine(needed >> 20) +
                     " MiB together, more than half of this machine's memory; "
                     "give fewer --tokens, libraries or --threads");
  return Error::success();
}

/// Seconds a token of one step of the row's sequences, which are counted where
/// they have the row's length then.
Expected<double> Bench::stepRow(BenchRow &row) {
  Walk &walk = walks.at(walkOf(row));
  // A sequence alone is to stay in the processor's cache, where memory was read
  // since its last step.
  if (result.walk == 0)
    if (auto warms = walk.step(); !warms)
      return warms.takeError();
  auto seconds = walk.step();
  if (!seconds || walk.length() != row.tokens)
    return seconds;
  int64_t used = 0;
  if (Error error = walk.measure(used, row.attends))
    return error;
  if (used != row.bytes)
    return userError("'" + result.libraries[row.library].subject + "' stores " +
                     Twine(used) + " bytes at " + Twine(row.tokens) +
                     " tokens, its plan says " + Twine(row.bytes));
  return seconds;
}

Error Bench::runRound(int64_t round, MutableArrayRef<BenchRow> rows,
                      MutableArrayRef<Samples> samples) {
  std::map<int64_t, double> best;
  for (int64_t threads : options.threads) {
    const double one = bandwidth.read(threads, 1);
    const double four = bandwidth.read(threads, 4);
    streams[threads].first.push_back(one);
    streams[threads].second.push_back(four);
    best[threads] = std::max(one, four);
  }
  // Another row begins each round: the first ones take up to a twentieth less.
  std::vector<double> seconds(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t number = (i + static_cast<size_t>(round)) % rows.size();
    auto took = stepRow(rows[number]);
    if (!took)
      return took.takeError();
    seconds[number] = *took;
  }
  std::map<std::pair<size_t, int64_t>, double> first;
  for (auto [row, of, took] : zip(rows, samples, seconds)) {
    auto bytes =
        candidates[row.library]->planned(walks.at(walkOf(row)).length());
    if (!bytes)
      return bytes.takeError();
    std::pair<size_t, int64_t> base;
    if (options.interleave)
      base = {row.library, row.threads};
    of.seconds.push_back(took);
    of.rates.push_back(static_cast<double>(*bytes) / took);
    of.shares.push_back(of.rates.back() / best[row.threads]);
    of.ratios.push_back(took / first.try_emplace(base, took).first->second);
  }
  return Error::success();
}

Error Bench::runRows(MutableArrayRef<BenchRow> rows) {
  for (BenchRow &row : rows) {
    const Candidate &candidate = *candidates[row.library];
    progress.show(Twine(candidate.library.info().name) + ": to " +
                  Twine(row.tokens) + " tokens");
    Walk &walk =
        walks.try_emplace(walkOf(row), candidate, row.threads).first->second;
    const int64_t steps = result.walk == 0 ? 2 : 1;
    if (Error error =
            walk.prepare(row.caches, row.tokens, options.rounds, steps))
      return error;
  }
  std::vector<Samples> samples(rows.size());
  streams.clear();
  for (int64_t round = 1; round <= options.rounds; ++round) {
    progress.show(Twine(rows.back().tokens) + " tokens: round " + Twine(round) +
                  " of " + Twine(options.rounds));
    if (Error error = runRound(round, rows, samples))
      return error;
  }
  for (auto [row, of] : zip(rows, samples)) {
    row.seconds = spreadOf(std::move(of.seconds));
    row.bytesPerSecond = spreadOf(std::move(of.rates)).median;
    row.share = spreadOf(std::move(of.shares)).median;
    row.ratio = spreadOf(std::move(of.ratios)).median;
  }
  std::set<int64_t> all;
  for (const BenchRow &row : rows)
    all.insert(row.tokens);
  for (int64_t tokens : all)
    for (const auto &[threads, read] : streams)
      result.bandwidth.push_back({tokens, threads, spreadOf(read.first).median,
                                  spreadOf(read.second).median});
  return Error::success();
}

Error Bench::run() {
  std::vector<int64_t> all;
  for (const std::vector<int64_t> &some : lengths)
    all.insert(all.end(), some.begin(), some.end());
  sort(all);
  all.erase(llvm::unique(all), all.end());
  for (int64_t tokens : all)
    if (Error error = planRows(tokens))
      return error;
  MutableArrayRef<BenchRow> rest = result.rows;
  while (!rest.empty()) {
    auto rows = rest.take_while([&](const BenchRow &row) {
      return options.interleave || row.tokens == rest.front().tokens;
    });
    if (Error error = runRows(rows))
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
