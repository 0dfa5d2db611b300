//===- Play.h - random calls of one library ---------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_PLAY_H
#define KVC_COMPILER_HARNESS_PLAY_H

#include "compiler/harness/Comparison.h"

namespace kvc::harness {

/// All layers go through one sequence together, a chunk of tokens after
/// another, each layer by calls of its own: single steps, a prefill, an
/// append. In between there are queries over parts, calls that must be refused,
/// and comparisons of all that is stored.
class Play {
public:
  Play(Comparison &comparison, const LoadedLibrary &library, uint64_t seed);

  /// "" where all was right.
  std::string run();
  int64_t getLength() const { return length; }

private:
  int64_t chooseLength();
  int64_t chooseChunk(int64_t token);
  int64_t limitOf(int64_t layer) const;
  TokenInput input(int64_t layer, int64_t token);
  bool playOwner(int64_t layer, int64_t token, int64_t count);
  bool playReader(int64_t layer, int64_t token, int64_t count);
  bool playFull(int64_t layer, int64_t token);
  bool playQuery(int64_t layer);
  bool playChunk(int64_t token, int64_t count);

  Comparison &comparison;
  const LoadedLibrary &library;
  const reference::Reference &model;
  Random random;
  uint64_t seed;
  InputKind kind;
  bool mixed; ///< each token has a kind of its own
  int64_t length, stride = 1;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_PLAY_H
