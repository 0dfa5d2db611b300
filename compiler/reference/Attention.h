//===- Attention.h - attention over what is stored, in fp64 -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_REFERENCE_ATTENTION_H
#define KVC_COMPILER_REFERENCE_ATTENTION_H

#include "compiler/reference/Store.h"

namespace kvc::reference {

/// The attention of one token, and what bounds its error.
struct Attended {
  std::vector<double> out; ///< [heads, value_dim]
  std::vector<double> lse; ///< [heads]
  /// By head: A = |scale| * max_t sum_d |q_d * k_td| after rotation.
  std::vector<double> magnitude;
  /// By head: the row's largest sum_t w_t * |v_t|.
  std::vector<double> weighted;
  /// By head: |scale| times c, the largest |q_d| * (max - min) of the groups of
  /// keys that are attended to as codes, and their channels.
  std::vector<double> spread;
  /// By head: max |v| over what is stored.
  std::vector<double> largest;

  bool empty() const { return lse.empty(); }
};

/// Attention of `q` ([heads, head_dim], before rotation; turned in double by
/// the angles that keys are turned by, c and s in f32) as of `position`: over
/// the tokens from <= t < to of those that a decode step there attends to
/// (first position excluded). `policy` and `shape` are the attending layer's: a
/// reader has heads and scores of its own. `sinks` are its learned sinks,
/// [heads]; empty: none, or left out.
Attended attend(const Store &store, kv::PolicyAttr policy, kv::ShapeAttr shape,
                int64_t position, llvm::ArrayRef<float> q,
                llvm::ArrayRef<float> sinks = {}, int64_t from = 0,
                int64_t to = INT64_MAX);

} // namespace kvc::reference

#endif // KVC_COMPILER_REFERENCE_ATTENTION_H
