//===- CacheDefinition.h - positions in the cache, the plain way -*- C++
//-*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StreamingLLM (Xiao et al. 2023, section 3.2): positions are those within the
// cache. Of n stored tokens the j-th has position j, and the query n - 1. Here
// that is done as it is said, in fp64, with neither the library's two rotations
// of the query nor the reference: each stored key, as `read` gives it, is
// turned back from the position that it was seen at and rotated anew at j, the
// query at n - 1. Of float planes also the key as it was given, never rotated
// before.
//
// The bound is that of docs/semantics.md, with u = 2^-24, and what the two ways
// are apart in exact arithmetic. In the sum of one logit, over pairs of
// channels with F the rotation's factor:
//  - The library's cosines and sines are rounded once to f32, those here are
//    not, and the angles of both positions once to fp64, 2^-53 of at most the
//    newest position p: F * (|q0| + |q1|) * (|k0| + |k1|) * (u + 2^-52 * p).
//    To turn a key back and forth in fp64 adds some 2^-50 of that.
//  - A key that was given, x, was rotated in f32, by three roundings of parts
//    that are at most F * (|x0| + |x1|), and rounded to the type it is kept in,
//    which is relative to what is stored.
//  - `read` rounds code * scale and the sum with zero, which is no larger than
//    any original: u * (2 |k| + max |original|) of each channel.
// Such an error e of all logits moves the softmax's numerator and denominator
// by e each; values that are codes have read's error themselves.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_CACHEDEFINITION_H
#define KVC_TEST_UNIT_CACHEDEFINITION_H

#include "compiler/harness/Inputs.h"

#include <vector>

namespace kvc::test {

/// Rotary embedding, as docs/semantics.md has it.
struct Rope {
  std::vector<double> frequencies; ///< empty: nothing is rotated
  bool interleaved = false;
  double factor = 1;
};

/// What a layer does to its logits. `scale` 0 is 1/sqrt(head_dim).
struct Score {
  double scale = 0, softcap = 0;
  std::vector<double> slopes;
};

/// What is done with a sequence.
struct Scheme {
  Rope rope;
  int64_t sinks = 0, window = 0;
  bool keyCodes = false, valueCodes = false;
  /// Of float keys: half a unit of a sink's type and of the others', relative.
  double sinkUlp = 0, bodyUlp = 0;
  std::vector<Score> scores = {{}}; ///< by layer
};

/// Where keys are taken from, and which positions they have.
enum class Way {
  Stored,  ///< what is stored, turned back
  Given,   ///< keys as they were given
  Absolute ///< stored keys at the positions they were seen at: not this scheme
};

/// What is stored, as `read` gives it.
struct Stored {
  std::vector<float> keys, values; ///< [kv_heads, n, dim]
  std::vector<int64_t> positions;
  int64_t count = 0;
};

/// One query head's attention, and its bounds.
struct Row {
  std::vector<double> out, bounds; ///< [value_dim]
  double lse = 0, lseBound = 0;
};

/// Attention over what one sequence of a library stores.
class Definition {
public:
  /// `layers` share the cache of layer 0; `io` is the library's.
  Definition(const Scheme &scheme, llvm::ArrayRef<harness::LayerShape> layers,
             harness::Element io, int64_t first)
      : scheme(scheme), rope(scheme.rope), layers(layers), io(io),
        first(first) {}

  /// The token that was appended.
  void give(const harness::TokenInput &input);

  /// Head `head` of `q`, [heads, head_dim], before rotation, which stands at
  /// the newest token.
  Row attend(Way way, int64_t layer, const Stored &stored,
             llvm::ArrayRef<float> q, int64_t head) const;
  /// Whether each stored key of a plane in f32 is the given one, rotated at the
  /// position it was seen at, to 1e-6.
  bool anglesRight(const Stored &stored) const;

private:
  /// One key's part in a head's attention.
  struct Scored {
    double logit;
    double magnitude; ///< of the terms of its sum
    double lost;      ///< of it, where both ways are apart
  };

  Scored scoreKey(Way way, int64_t layer, const Stored &stored,
                  const std::vector<double> &q, int64_t head, int64_t j) const;
  double scaleOf(int64_t layer) const;
  std::pair<int64_t, int64_t> pairDims(size_t pair) const;
  std::vector<double> turned(std::vector<double> x, int64_t index,
                             double factor) const;
  double pairSum(llvm::ArrayRef<double> x, llvm::ArrayRef<double> y) const;
  double logit(const Score &score, double dot, int64_t head,
               int64_t distance) const;

  const Scheme &scheme;
  const Rope &rope;
  llvm::ArrayRef<harness::LayerShape> layers;
  harness::Element io;
  int64_t first;
  std::vector<std::vector<float>> given; ///< keys, before rotation
  double largestKey = 0, largestValue = 0;
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_CACHEDEFINITION_H
