//===- Bench.h - kvc bench: what a token costs ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_BENCH_H
#define KVC_COMPILER_HARNESS_BENCH_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvc::harness {

struct BenchOptions {
  std::vector<std::string> subjects; ///< libraries, specs, IR
  std::string target; ///< as CompileOptions has it, where one is compiled
  std::vector<int64_t> tokens; ///< lengths; empty: chosen for each library
  std::vector<int64_t> threads = {1};
  int64_t rounds = 21;
  /// Bytes of cache that a round walks, at least; -1: twice the last-level
  /// cache.
  int64_t walk = -1;
  /// All lengths take turns in each round, instead of one after the other.
  bool interleave = false;
};

/// Of all rounds: the median, and what a tenth of them lies below and above.
struct Spread {
  double median = 0, low = 0, high = 0;
};

/// One library at one length, on so many threads.
struct BenchRow {
  size_t library;
  int64_t threads, tokens;
  int64_t caches;  ///< sequences that a round walks through
  int64_t walked;  ///< bytes of them
  int64_t bytes;   ///< of cache that one token reads, all layers
  int64_t attends; ///< tokens that it attends to, summed over layers
  Spread seconds;  ///< a token, all layers
  double bytesPerSecond = 0;
  double share = 0; ///< of the bandwidth read in the same round
  /// To the first row of this length, in the same round; where lengths take
  /// turns, to the same library's first.
  double ratio = 0;
};

/// Bytes a second that were read between the libraries' turns.
struct BandwidthRow {
  int64_t tokens, threads;
  double one = 0, four = 0; ///< streams a thread
};

struct BenchLibrary {
  std::string subject, name, target;
  int64_t layers, kernels;
};

struct BenchResult {
  int64_t rounds, walk, cache;
  std::vector<BenchLibrary> libraries;
  std::vector<BenchRow> rows; ///< by length, in the order of the libraries
  std::vector<BandwidthRow> bandwidth;
};

/// Times decode steps of all libraries, in turn within each round. `ourFault`
/// is set where a spec that was accepted does not compile.
llvm::Expected<BenchResult> bench(const BenchOptions &options, bool &ourFault);

void printTable(const BenchResult &result, llvm::raw_ostream &os);
void printJson(const BenchResult &result, llvm::raw_ostream &os);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_BENCH_H
