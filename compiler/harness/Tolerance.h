//===- Tolerance.h - how far from the reference is right --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bound of arithmetic over what is stored, at any length.
//
// Logits. With u = 2^-24 and A = |scale| * max_t sum_d |q_d * k_td|, a dot
// product of n terms whose sums go over lanes and in no fixed order errs by
// about sqrt(n) * u * A; the query's rotation (one rounding of its result), its
// scale (the number and the product) and the folding of codes (scale and rest)
// add four roundings of like size: (4 + sqrt(head_dim)) * u * A in a logit,
// absolutely. A softcap rounds once more and ALiBi once, relative to a logit
// that counts, which is at most A (dialect/score/Softcap.cpp, Alibi.cpp).
//
// Out. An error e in the logits moves each weight by a factor exp(+-e); exp in
// f32, the sums of weights and values, whose terms are at most as large as
// sum_t w_t * |v_t|, and the division are what 2e-5 is for. All is relative
// to the row's largest sum_t w_t * |v_t|; where that vanishes beside the
// values themselves, to 2^-80 * max |v|: a weight below that may be lost.
// Half a unit in the last place of io comes on top. What is stored may lie a
// little beyond io's range (a scale is rounded up, bf16 rounds 65504 to 65536);
// out then has io's limit, and that is what is right.
//
// Whole numbers. Where codes are multiplied in i16, an operand x of head_dim
// channels becomes n * step + e, with |e| <= step / 2 and step = max |x| /
// (2^15 - 1); what is lost is e * (code - middle), |code - middle| <= (2^bits -
// 1) / 2, and x = q * scale, scale * (2^bits - 1) = max - min: 2^-17 * head_dim
// * c in a logit, times |scale|. The weights are rounded likewise, each run's
// by its own largest weight times scale, which is at most twice what the row
// weighs: 64 tokens lose 64 * 2^-17 * 2 of it at the worst, and 2e-3 is that
// with what else a run may do. i8 is held to 0.1 on random input; on other
// input it is not judged.
//
// Merging. Of the parts' lse, which err by 2^-22 * |lse| themselves, no more
// than A and the logarithm of a number of tokens is in B. Where logits fall
// with distance, and all tokens are far, it is larger: 2^-22 of what it is
// larger by comes on top of B.
//
// Lse. The logarithm of the sum moves by as much as the logits do, and is
// rounded itself: 2^-22 * |lse|.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_TOLERANCE_H
#define KVC_COMPILER_HARNESS_TOLERANCE_H

#include "compiler/harness/Elements.h"
#include "compiler/reference/Attention.h"

namespace kvc::harness {

/// The bound of one row (one head's output).
class Tolerance {
public:
  /// `arithmetic` is that of #kv.policy.
  Tolerance(const reference::Attended &row, int64_t head, int64_t headDim,
            Element io, mlir::Type arithmetic = {}, bool isRandom = false);

  /// Of parts that were merged, where the row's logits fall with distance:
  /// each part's lse has been rounded, and may be large beside A.
  void allowMerging(const reference::Attended &row, int64_t head);

  /// What an element of out should be, where attention gives `exact`.
  double wanted(double exact) const;
  /// Of an element of out that should be `want`.
  double out(double want) const;
  /// Of the lse, whose right value is `want`.
  double lse(double want) const;
  /// What errors of this row are relative to.
  double unit() const { return relativeTo; }

private:
  double logits; ///< 2e-5 + 2^-24 * (4 + sqrt(head_dim)) * A, and integers' own
  double relativeTo;
  Element io;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_TOLERANCE_H
