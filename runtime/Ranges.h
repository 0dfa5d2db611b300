//===- Ranges.h - a range of tokens for each stream -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_RANGES_H
#define KVC_RUNTIME_RANGES_H

#include "runtime/Pages.h"

namespace kvc::runtime {

/// What a layer's streams hold, or are to hold.
struct Ranges {
  /// What is stored at a length.
  static Ranges live(const kvc_gen_kernel &kernel, int64_t seen) {
    Ranges ranges;
    kernel.ranges(seen, &ranges.streams[0].begin);
    return ranges;
  }
  /// Likewise, with what `rollback` holds.
  static Ranges held(const kvc_gen_kernel &kernel, int64_t seen,
                     int64_t reached) {
    Ranges ranges;
    kernel.held(seen, reached, &ranges.streams[0].begin);
    return ranges;
  }

  TokenRange streams[KVC_MAX_STREAMS] = {};
};
static_assert(sizeof(Ranges) == 2 * KVC_MAX_STREAMS * sizeof(int64_t));

} // namespace kvc::runtime

#endif // KVC_RUNTIME_RANGES_H
