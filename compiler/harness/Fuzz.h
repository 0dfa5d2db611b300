//===- Fuzz.h - kvc fuzz: random specs against the reference ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_FUZZ_H
#define KVC_COMPILER_HARNESS_FUZZ_H

#include "compiler/pipeline/Pipeline.h"
#include "llvm/Support/raw_ostream.h"

namespace kvc::harness {

struct FuzzOptions {
  uint64_t seed = 1;
  int64_t count = 100;
  int64_t skip = 0;     ///< the number of the first case
  int64_t failures = 5; ///< it stops at so many
  bool show = false;    ///< print each case's spec
  bool cells = false;   ///< print each combination, and how often it was met
  std::string target;   ///< as CompileOptions has it
  std::string runner;   ///< as LoadedLibrary::open has it
};

/// Each case: a random spec, compiled, and random calls and operations held
/// against the reference. Prints what missed with all that makes it again, and
/// at the end which combinations of the axes and how many of each operation
/// were met. Whether all was right.
bool fuzz(const FuzzOptions &options, llvm::raw_ostream &os);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_FUZZ_H
