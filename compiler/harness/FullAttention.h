//===- FullAttention.h - a trace over a full cache, in fp64 -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_FULLATTENTION_H
#define KVC_COMPILER_HARNESS_FULLATTENTION_H

#include "compiler/harness/Trace.h"
#include "compiler/spec/Spec.h"

namespace kvc::harness {

/// What the layers of a trace give where nothing is coded and nothing is
/// evicted, by layer: [rows, heads, value_dim]. The reference computes it in
/// fp64, on all of the machine's threads.
llvm::Expected<std::vector<std::vector<float>>>
attendInFull(const spec::Spec &spec, const Trace &trace);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_FULLATTENTION_H
