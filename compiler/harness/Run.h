//===- Run.h - kvc run: a recorded trace through a library ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_RUN_H
#define KVC_COMPILER_HARNESS_RUN_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace kvc::harness {

struct RunOptions {
  std::string library, trace;
  std::string output;    ///< out and lse of each layer
  std::string dumpCache; ///< what is stored at the end; "": not written
  std::string stats;     ///< JSON; "": not written
  std::string runner;    ///< as LoadedLibrary::open has it
  int64_t first = 0;     ///< position of the first token
  int64_t prefill = 0;   ///< so many tokens by prefill, the rest by decode
  int64_t chunk = 0;     ///< tokens of one prefill; 0: as many as can be
};

/// Replays the trace and writes what was asked for. Nothing is written where a
/// call fails.
llvm::Error runTrace(const RunOptions &options);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_RUN_H
