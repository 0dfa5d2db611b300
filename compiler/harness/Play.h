//===- Play.h - random calls of one library ---------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_PLAY_H
#define KVC_COMPILER_HARNESS_PLAY_H

#include "compiler/files/TemporaryFile.h"
#include "compiler/harness/Comparison.h"
#include "compiler/harness/Coverage.h"

#include <deque>

namespace kvc::harness {

/// All layers go through a sequence together, a chunk of tokens after another,
/// each layer by calls of its own: single steps, a prefill, an append. In
/// between there are queries over parts, calls that must be refused,
/// comparisons of all that is stored; and operations, which make several
/// sequences of one and go back in them.
class Play {
public:
  Play(std::unique_ptr<Comparison> comparison, const LoadedLibrary &library,
       uint64_t seed);

  // Each of these is the whole of a play; "" where all was right.

  /// One sequence, by calls that take tokens and queries alone.
  std::string runCalls();
  /// Operations in a random order in between.
  std::string runOperations();
  /// Each operation once at least, in an order that is always the same.
  std::string runEachOperation();

  int64_t getLength() const { return length; }
  Worst worst() const;
  const OperationCounts &met() const { return counts; }

private:
  /// A sequence.
  struct Branch {
    std::unique_ptr<Comparison> both;
    /// By layer, what an owner took; readers' are empty.
    std::vector<std::vector<TokenInput>> history;
    int64_t token = 0;   ///< the longest layer's length, contexts left aside
    uint64_t inputs = 0; ///< which tokens come; others once it went back

    const reference::Reference &model() const { return both->reference(); }
  };
  struct Saved {
    Snapshot snapshot;
    std::vector<std::vector<TokenInput>> history;
    int64_t token = 0;
  };

  // Play.cpp
  int64_t chooseLength();
  int64_t chooseChunk(const Branch &branch);
  int64_t limitOf(int64_t layer) const;
  int64_t nextOf(const Branch &branch, int64_t layer, int64_t target) const;
  TokenInput input(const Branch &branch, int64_t layer, int64_t token);
  std::vector<TokenInput> inputsOf(const Branch &branch, int64_t layer,
                                   int64_t from, int64_t count);
  bool playOwner(Branch &branch, int64_t layer, int64_t count);
  bool playFull(Branch &branch, int64_t layer);
  bool playErrors(Branch &branch, int64_t layer, const TokenInput &input);
  bool playChunk(Branch &branch, int64_t count);
  void note(Operation operation);
  void keep(Branch &branch, int64_t layer, std::vector<TokenInput> inputs);
  bool missed(const llvm::Twine &why);
  /// The result, and where it is false why.
  bool check(const Branch &branch, bool good);

  // PlayQueries.cpp
  /// Queries at consecutive tokens: those as of lengths [first, first + count).
  struct Queries {
    int64_t first, count;
  };
  int64_t mostQueries() const;
  Queries chooseQueries(const Branch &branch, int64_t layer, int64_t taken);
  Queries chooseAsked(const Branch &branch, int64_t layer);
  int64_t chooseCut(const Branch &branch, int64_t layer, Queries queries);
  void noteBehind(const Branch &branch, int64_t layer, Queries queries);
  bool playReader(Branch &branch, int64_t layer, int64_t count);
  bool playQuery(Branch &branch, int64_t layer);
  bool playQueriesTogether(int64_t layer);

  // PlayOperations.cpp
  bool playOperation();
  bool playTogether();
  bool playTogether(int64_t layer, llvm::ArrayRef<int64_t> targets,
                    llvm::ArrayRef<std::vector<int64_t>> before);
  bool playTruncate(Branch &branch);
  bool truncate(Branch &branch, int64_t tokens);
  bool fork(Branch &branch);
  void drop(size_t number);
  bool save(Branch &branch, const std::string &path = "");
  bool load(Branch &branch, const Saved &saved, const std::string &path = "");
  llvm::Expected<TemporaryFile> makeSnapshotFile() const;
  bool playLoad(Branch &branch);
  bool loadFresh(const Saved &saved, const std::string &path = "");
  bool playDamaged(Branch &branch);
  bool playAnew(Branch &branch);
  bool playBadCalls(Branch &branch);
  bool reset(Branch &branch);
  bool grow(Branch &branch, int64_t tokens);
  bool backAndOn(Branch &branch);
  bool throughSnapshots(Branch &branch);
  void turn(Branch &branch) { branch.inputs = ++turns; }
  Branch &branch() { return *branches[current]; }

  const LoadedLibrary &library;
  std::vector<std::unique_ptr<Branch>> branches;
  size_t current = 0;
  std::vector<Saved> saved;
  Random random;
  uint64_t seed, turns = 0;
  InputKind kind;
  bool mixed; ///< each token has a kind of its own
  bool late;  ///< readers ask seldom
  bool operates = false;
  int64_t length, stride = 1;
  int64_t taken = 0; ///< tokens of all sequences
  OperationCounts counts = {};
  std::deque<Operation> latest;
  Worst before; ///< of sequences that are gone
  std::string text;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_PLAY_H
