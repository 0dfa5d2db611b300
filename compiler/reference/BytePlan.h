//===- BytePlan.h - what a layer's cache takes, in bytes --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_REFERENCE_BYTEPLAN_H
#define KVC_COMPILER_REFERENCE_BYTEPLAN_H

#include "dialect/KVAttributes.h"

namespace kvc::reference {

/// Bytes used by one layer at one length, exactly.
struct BytePlan {
  int64_t codes = 0;     ///< ceil(stored coded tokens * channels * bits / 8)
  int64_t scales = 0;    ///< a pair for each group with a stored token
  int64_t residual = 0;  ///< tokens not coded, and float planes
  int64_t sinks = 0;     ///< the first tokens
  int64_t originals = 0; ///< what `group: all` keeps beside its codes
  int64_t rollback = 0;  ///< what `rollback` holds

  int64_t total() const {
    return codes + scales + residual + sinks + originals + rollback;
  }
};

/// The byte plan of an owner at length `seen`, where the longest length so far
/// was `reached`; a reader's is all zero.
BytePlan planBytes(kv::PolicyAttr policy, kv::ShapeAttr shape, int64_t seen,
                   int64_t reached);
inline BytePlan planBytes(kv::PolicyAttr policy, kv::ShapeAttr shape,
                          int64_t seen) {
  return planBytes(policy, shape, seen, seen);
}

} // namespace kvc::reference

#endif // KVC_COMPILER_REFERENCE_BYTEPLAN_H
