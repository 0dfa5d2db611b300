//===- Eval.h - kvc eval: what specs cost in fidelity -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_EVAL_H
#define KVC_COMPILER_HARNESS_EVAL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvc::harness {

/// How far a layer's outputs are from those of an unquantised full cache. A
/// difference is relative to what it is a difference from: 0 where both are 0,
/// infinite where that alone is.
struct LayerFidelity {
  double error = 0; ///< ||out - full|| / ||full|| over all rows and heads
  double worst = 0; ///< the same of the row where it is largest
  int64_t worstPosition = 0;
  int64_t bytes = 0; ///< in use at the end
};

struct Fidelity {
  std::string spec; ///< its file, as it was named
  std::string name;
  int64_t tokens = 0;
  std::vector<LayerFidelity> layers;
  int64_t numbers = 0; ///< of K and V that are stored at the end
  int64_t full = 0;    ///< that full caches of all layers have

  /// The layers' root mean square: each counts alike, however large its
  /// outputs are.
  double error() const;
  int64_t bytes() const;
  double bitsPerNumber() const;
};

struct EvalOptions {
  std::vector<std::string> specs;
  std::string trace;
  std::string target; ///< as CompileOptions has it
  std::string runner; ///< as LoadedLibrary::open has it
  bool json = false;
};

/// Runs the trace through the library of each spec and prints what it costs, in
/// the order of the specs. Those that fail are the error; the others are
/// printed. `ourFault` is set where a spec that was accepted does not compile.
llvm::Error evaluate(const EvalOptions &options, bool &ourFault,
                     llvm::raw_ostream &os);

/// For people: a line a spec.
void printTable(llvm::ArrayRef<Fidelity> all, llvm::raw_ostream &os);
/// For programs: an array with an object for each spec.
void printJson(llvm::ArrayRef<Fidelity> all, llvm::raw_ostream &os);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_EVAL_H
