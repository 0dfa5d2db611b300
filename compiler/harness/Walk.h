//===- Walk.h - sequences of a library, to be timed -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_WALK_H
#define KVC_COMPILER_HARNESS_WALK_H

#include "compiler/harness/LoadedLibrary.h"

namespace kvc::harness {

/// A library and random input for it.
class Candidate {
public:
  explicit Candidate(LoadedLibrary &&opened);

  /// Most tokens that every layer takes.
  int64_t limit() const;
  /// Bytes that a step reads at so many tokens, in all layers, readers
  /// included: not what rollback holds.
  llvm::Expected<int64_t> planned(int64_t tokens) const;
  /// The same, each byte once.
  llvm::Expected<int64_t> stored(int64_t tokens) const;
  /// The usual lengths as far as the library takes them and `memory` holds
  /// them, up to the first where no more is stored: behind a window nothing
  /// changes.
  llvm::Expected<std::vector<int64_t>> usualLengths(int64_t memory) const;

  LoadedLibrary library;

private:
  friend class Walk;
  llvm::Expected<int64_t> sum(int64_t tokens, bool readers) const;
  const void *at(const std::vector<uint8_t> &bytes, int64_t token,
                 int64_t elements) const;

  LearnedSinks sinks;
  std::vector<uint8_t> q, k, v;
};

/// The sequences of one library that a round walks through, on so many
/// threads. All have the same length.
class Walk {
public:
  Walk(const Candidate &candidate, int64_t threads);

  /// `count` sequences of `tokens` tokens less as many as `rounds` rounds of so
  /// many steps add.
  llvm::Error prepare(int64_t count, int64_t tokens, int64_t rounds,
                      int64_t stepsARound);
  /// Seconds a token of one step of all sequences, in all layers. At the
  /// length that was asked for they begin anew.
  llvm::Expected<double> step();
  int64_t length() const { return position; }
  /// Of one sequence now, readers included: what a step has read, and tokens
  /// that it attended to.
  llvm::Error measure(int64_t &bytes, int64_t &attends) const;

private:
  llvm::Error failed(const LibraryCache &cache, const char *function,
                     size_t layer, kvc_status status) const;
  llvm::Error create();
  llvm::Error append(int64_t count);
  llvm::Error fill(int64_t tokens);

  const Candidate &candidate;
  const LoadedLibrary &library;
  int64_t threads;
  std::vector<LibraryCache> caches;
  std::vector<uint8_t> out;
  int64_t position = 0, end = 0, steps = 0;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_WALK_H
