//===- Comparison.h - a library and the reference, step by step -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_COMPARISON_H
#define KVC_COMPILER_HARNESS_COMPARISON_H

#include "compiler/harness/Calls.h"
#include "compiler/harness/HeldPages.h"
#include "compiler/harness/Inputs.h"
#include "compiler/reference/Reference.h"

namespace kvc::harness {

/// The largest errors seen, as fractions of their bounds.
struct Worst {
  double out = 0, lse = 0;
  double relative = 0; ///< of out, relative to the row's largest sum
  int64_t rows = 0;    ///< rows of out compared
  int64_t stores = 0;  ///< times that all that is stored was compared

  void join(const Worst &other);
};

/// Runs the same tokens through a library and the reference. After the first
/// miss it says what it was, and no step is of use any more.
class Comparison {
public:
  /// `module` is at the cache level and describes the library. An error where
  /// they are of different shapes, or the library makes no cache.
  static llvm::Expected<std::unique_ptr<Comparison>>
  create(const LoadedLibrary &library, mlir::ModuleOp module,
         int64_t firstPosition, const LearnedSinks &sinks);

  /// One step of one layer in both: stats and bytes; with `compare`, also what
  /// it gives.
  bool step(int64_t layer, const TokenInput &input, bool compare);
  /// A chunk of tokens in one call; without `attends`, tokens alone. A reader's
  /// chunk ends at its owner's newest token.
  bool chunk(int64_t layer, llvm::ArrayRef<TokenInput> inputs, bool attends);
  /// Queries as of `position` over all tokens, in parts between `cuts`
  /// (ascending token numbers, first position excluded) and merged. What lies
  /// farther back than rollback may be refused as gone.
  bool query(int64_t layer, int64_t position, const TokenInput &input,
             llvm::ArrayRef<int64_t> cuts);
  /// What the layer holds: values and positions bit for bit, stats and bytes.
  bool compareStored(int64_t layer);
  /// Calls that must be refused and change nothing; `input` is one that the
  /// layer could take next.
  bool compareErrors(int64_t layer, const TokenInput &input);
  /// Whether one token more is refused where the layer's limit is reached.
  bool compareFull(int64_t layer, const TokenInput &input);

  /// From here on input is random, which all arithmetic is judged on.
  void setRandom() { isRandom = true; }

  const reference::Reference &reference() const { return *expected; }
  const LibraryCache &cache() const { return actual; }
  const Worst &worst() const { return largest; }
  /// What missed first; "" so far.
  const std::string &miss() const { return text; }
  /// Seconds of the library's steps, in order.
  const std::vector<double> &times() const { return seconds; }
  int64_t nextPosition(int64_t layer) const;

private:
  Comparison(const LoadedLibrary &library, LibraryCache cache,
             std::unique_ptr<reference::Reference> expected,
             std::vector<HeldPages> held)
      : library(library), actual(std::move(cache)),
        expected(std::move(expected)), held(std::move(held)) {}

  bool missed(int64_t layer, const llvm::Twine &what);
  /// `row` is the first of `got`'s rows that are compared.
  bool compareRows(int64_t layer, int64_t position, const Output &got,
                   const reference::Attended &want, Element type,
                   int64_t row = 0);
  bool compareRow(int64_t layer, int64_t position, int64_t head,
                  const Output &got, const reference::Attended &want,
                  Element type, int64_t row);
  bool comparePart(int64_t layer, const Tokens &query, int64_t from, int64_t to,
                   bool withSinks, Output &got);
  bool compareStats(int64_t layer);
  bool compareHeld(int64_t layer, const kvc_stats &got);
  bool compareBytes(int64_t layer, const kvc_bytes &got, int64_t seen,
                    llvm::StringRef from);
  bool compareRead(int64_t layer, int64_t from, int64_t to);
  bool compareValues(int64_t layer, kv::Plane plane, int64_t from, int64_t to,
                     llvm::ArrayRef<float> got);
  bool refused(int64_t layer, int64_t position, const TokenInput &input,
               kvc_status want, llvm::StringRef what);

  const LoadedLibrary &library;
  LibraryCache actual;
  std::unique_ptr<reference::Reference> expected;
  std::vector<HeldPages> held; ///< by layer, what it should be
  Worst largest;
  bool isRandom = false;
  std::string text;
  std::vector<double> seconds;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_COMPARISON_H
