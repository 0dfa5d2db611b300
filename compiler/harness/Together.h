//===- Together.h - sequences that share calls or threads -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_TOGETHER_H
#define KVC_COMPILER_HARNESS_TOGETHER_H

#include "compiler/harness/Inputs.h"

namespace kvc::harness {

/// A few sequences, each alone on one thread; then the same in calls that
/// carry all of them, on 2 and 7 threads and by a parallel-for that goes
/// backwards: all must give the same bits. "" where they do. `least` tokens at
/// least, where the layers' contexts allow.
std::string compareTogether(const LoadedLibrary &library, uint64_t seed,
                            int64_t least = 0);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_TOGETHER_H
