//===- Store.h - what a layer keeps of one sequence -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definition of what is stored, token by token and value by value, bit for
// bit. Nothing here knows of pages, streams or kernels.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_REFERENCE_STORE_H
#define KVC_COMPILER_REFERENCE_STORE_H

#include "compiler/reference/Rotation.h"

#include <array>
#include <deque>
#include <vector>

namespace kvc::reference {

/// One token of one plane: [kv_heads, dim], dense.
struct PlaneToken {
  std::vector<double> exact; ///< what is stored, code * scale + zero exactly
  std::vector<float> read;   ///< the same as `read` gives it
  bool coded = false;        ///< made into codes after it was appended
  /// Where coded, max - min of the values that each was coded with.
  std::vector<double> spread;
};

/// A token. Tokens are counted from 0, first position excluded.
struct Token {
  static constexpr int64_t Never = INT64_MAX;

  int64_t index = 0;
  std::array<PlaneToken, 2> planes; ///< by kv::Plane
  /// What was before it was coded, and the length at which that was.
  std::array<PlaneToken, 2> originals;
  std::array<int64_t, 2> codedAt = {Never, Never};
  int64_t goneAt = Never; ///< the length at which it was evicted

  /// The form that a step at `length` attends to, where codes stay as they are.
  const PlaneToken &formAt(kv::Plane plane, int64_t length) const {
    const auto number = static_cast<size_t>(plane);
    const bool wasOriginal =
        codedAt[number] != Never && length < codedAt[number];
    return wasOriginal ? originals[number] : planes[number];
  }
};

/// What a step at one length attends to, in ascending position.
struct Moment {
  struct Form {
    int64_t index;
    std::array<const PlaneToken *, 2> planes; ///< by kv::Plane
  };
  std::vector<Form> tokens;
  std::deque<PlaneToken> made; ///< codes that are of this length alone
};

/// An owner's cache for one sequence.
class Store {
public:
  Store(kv::PolicyAttr policy, kv::ShapeAttr shape, int64_t firstPosition);

  /// Rotates `k` ([kv_heads, head_dim]) at the next position and keeps it with
  /// `v` ([kv_heads, value_dim]), each rounded once to the type it is kept in.
  void append(llvm::ArrayRef<float> k, llvm::ArrayRef<float> v);
  /// Forgets the tokens that the time policy no longer stores.
  void evict();
  /// Codes the tokens that are due, in both planes.
  void code();

  /// Back to `tokens` tokens, at most those there are, in the form they had
  /// then; `saturated` stays what it was, but for codes that are made anew.
  void truncate(int64_t tokens);
  /// From here on it is what a cache is that was given a snapshot of it.
  void beLoaded();

  int64_t seen() const { return length; }
  /// What `rollback` is counted from: the longest length so far; `rollback`
  /// more than a length that was gone back to or loaded, where that is less,
  /// since all from there on is there.
  int64_t reached() const { return longest; }
  int64_t stored() const { return static_cast<int64_t>(tokens.size()); }
  int64_t evicted() const { return length - stored(); }
  /// Scales, zeros and floats so far that met their type's limit; of codes that
  /// are made anew at each length, the scales and zeros there are now.
  int64_t saturated() const {
    return saturations + remadeSaturations[0] + remadeSaturations[1];
  }
  int64_t firstPosition() const { return first; }

  kv::PolicyAttr policy() const { return thePolicy; }
  kv::ShapeAttr shape() const { return theShape; }
  const Rotation &rotation() const { return theRotation; }
  /// The stored tokens in ascending position.
  const std::deque<Token> &getTokens() const { return tokens; }
  /// What a step at `length` attends to; of a length beyond the newest, what is
  /// stored now and then, as it is now. All is kept for it, whatever a library
  /// forgets.
  Moment getMoment(int64_t length) const;
  /// Whether a library must still have what a step at `at` attended to, as far
  /// as it lies in [from, to): what was attended to at a length from reached -
  /// rollback on, and what is stored now. If not, it is gone.
  bool isHeld(int64_t at, int64_t from = 0, int64_t to = INT64_MAX) const;

private:
  int64_t firstOriginal(kv::Plane plane, int64_t at) const;
  void keep(PlaneToken &token, kv::Plane plane, llvm::ArrayRef<float> values);
  void codePlane(kv::Plane plane);
  void codeBlock(kv::PrecisionAttrInterface precision, kv::Plane plane,
                 llvm::ArrayRef<Token *> block, int64_t begin, int64_t end);
  void recodePlane(kv::Plane plane);
  int64_t remake(kv::Plane plane, llvm::ArrayRef<const PlaneToken *> originals,
                 llvm::ArrayRef<PlaneToken *> codes) const;

  kv::PolicyAttr thePolicy;
  kv::ShapeAttr theShape;
  Rotation theRotation;
  int64_t first;
  int64_t length = 0, longest = 0;
  int64_t saturations = 0;
  std::array<int64_t, 2> remadeSaturations = {0, 0};
  std::array<int64_t, 2> coded = {0, 0}; ///< of the tokens beyond the sinks
  std::deque<Token> tokens;
  std::deque<Token> gone; ///< in the order of their eviction
};

} // namespace kvc::reference

#endif // KVC_COMPILER_REFERENCE_STORE_H
