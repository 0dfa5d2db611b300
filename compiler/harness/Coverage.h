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

/// All combinations that a spec may say.
const std::vector<Cell> &allCells();
/// The one that a resolved layer is.
Cell cellOf(const spec::Layer &layer);

/// Counts layers by combination.
class Coverage {
public:
  Coverage();
  void count(const spec::Spec &spec);
  /// Combinations that no layer was.
  int64_t empty() const;
  /// A table of counts; what was never met is marked.
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<int64_t> counts;   ///< by indexOf
  std::vector<int64_t> features; ///< by what rotates, and happens to logits
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_COVERAGE_H
