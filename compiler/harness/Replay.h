//===- Replay.h - a trace goes through a library's cache --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_REPLAY_H
#define KVC_COMPILER_HARNESS_REPLAY_H

#include "compiler/harness/Calls.h"
#include "compiler/harness/Trace.h"

namespace kvc::harness {

/// What each call gives: rows of one layer, which come in order.
using RowsTaken = llvm::function_ref<void(size_t layer, const Output &rows)>;

struct ReplayOptions {
  int64_t first = 0;   ///< position of the first token
  int64_t prefill = 0; ///< so many tokens by prefill, the rest by decode
  int64_t chunk = 0;   ///< tokens of one prefill; 0: as many as can be
  std::string title;   ///< what progress says before the token
};

/// Takes the tokens through all layers together; ends at the first call that
/// fails.
llvm::Error replay(const LoadedLibrary &library, const LibraryCache &cache,
                   const Trace &trace, const ReplayOptions &options,
                   RowsTaken took);

/// What the layer counts now.
llvm::Expected<kvc_stats> statsOf(const LoadedLibrary &library,
                                  const LibraryCache &cache, size_t layer);
/// Bytes in use: all lines but padding.
int64_t usedBytes(const kvc_stats &stats);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_REPLAY_H
