//===- Coverage.h - which combinations a run has met ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_COVERAGE_H
#define KVC_COMPILER_HARNESS_COVERAGE_H

#include "compiler/spec/Spec.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <vector>

namespace kvc::harness {

/// A combination of the axes, as numbers into their names.
struct Cell {
  int keys = 0, values = 0; ///< of precisionKinds()
  int time = 0;             ///< of timeKinds()
  int position = 0;         ///< of positionKinds()
  int depth = 0;            ///< of depthKinds()
};

llvm::ArrayRef<llvm::StringRef> precisionKinds(); ///< float, per channel, ...
llvm::ArrayRef<llvm::StringRef> timeKinds();      ///< all, window, with sinks
llvm::ArrayRef<llvm::StringRef> positionKinds();  ///< none, absolute, cache
llvm::ArrayRef<llvm::StringRef> depthKinds();     ///< own, read

llvm::ArrayRef<llvm::StringRef> floatTypes(); ///< f32, f16, bf16
/// What is kept or handed over in a float type: io, keys, values, originals of
/// codes, sinks, scales of codes.
llvm::ArrayRef<llvm::StringRef> typedParts();

/// All combinations that a spec may say.
const std::vector<Cell> &allCells();
/// The one that a resolved layer is.
Cell cellOf(const spec::Layer &layer);

/// What may happen to a cache.
enum class Operation {
  Append,
  Prefill,
  Decode,
  Attend,
  Merge,
  Batch,    ///< one call for several caches
  Behind,   ///< several queries that begin before the newest token
  Truncate, ///< back to what is there
  Gone,     ///< truncate or attend: what they want is not
  Fork,
  Save,
  Load,
  Damaged, ///< a load that must be refused
  Anew,    ///< the same tokens, cut otherwise: the same snapshot
  Reset,
  BadCall,
};
llvm::ArrayRef<llvm::StringRef> operationNames(); ///< in their order
using OperationCounts = std::array<int64_t, 16>;

/// Counts layers by combination, and by the types of what they have.
class Coverage {
public:
  Coverage();
  void count(const spec::Spec &spec);
  void count(const OperationCounts &met);
  /// Combinations that no layer was.
  int64_t empty() const;
  /// Parts and types that no layer had, of typedParts() x floatTypes().
  int64_t emptyTypes() const;
  /// Operations that no case met.
  int64_t emptyOperations() const;
  /// How much of each kind was met; with `cells` also how often, and what was
  /// never, a line each.
  void print(llvm::raw_ostream &os, bool cells) const;

private:
  void countTypes(const spec::Layer &layer, spec::FloatType io);
  /// Those that no layer had.
  int64_t emptyFeatures() const;
  void printCells(llvm::raw_ostream &os) const;
  void printTypes(llvm::raw_ostream &os) const;

  std::vector<int64_t> counts;   ///< by indexOf
  std::vector<int64_t> features; ///< in the order of their names
  OperationCounts operations = {};
  std::array<std::array<int64_t, 3>, 6> types = {}; ///< by part and type
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_COVERAGE_H
