//===- Reference.h - fp64 interpreter of the cache level --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the bodies of `kv.layer` as they stand: a body that does something else
// gives something else. It knows the axes' definitions alone, nothing of how
// they are lowered, and is what generated code is held against.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_REFERENCE_REFERENCE_H
#define KVC_COMPILER_REFERENCE_REFERENCE_H

#include "compiler/reference/Attention.h"
#include "compiler/reference/BytePlan.h"
#include "dialect/KVOps.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace kvc::reference {

/// One token's input of one layer, before rotation; a reader takes q alone.
struct Input {
  llvm::ArrayRef<float> q, k, v;
};

/// By layer, one logit a query head where the layer's softmax starts with one.
using LearnedSinks = std::vector<std::vector<float>>;

/// Whether a layer of this policy takes learned sinks.
bool startsWithLogit(kv::PolicyAttr policy);

/// All layers of one model with their caches, for one sequence.
class Reference {
public:
  /// Of the one `kv.model` in `module`, which must stay as it is while this
  /// lives. An error where a layer has no body or one that cannot be run, or
  /// lacks its learned sinks.
  static llvm::Expected<std::unique_ptr<Reference>>
  create(mlir::ModuleOp module, int64_t firstPosition = 0,
         const LearnedSinks &sinks = {});

  int64_t layers() const { return static_cast<int64_t>(table.size()); }
  kv::PolicyAttr policy(int64_t layer) const { return table[layer].policy; }
  kv::ShapeAttr shape(int64_t layer) const { return table[layer].shape; }
  int64_t owner(int64_t layer) const { return table[layer].owner; }
  /// Its learned sinks; empty: none.
  llvm::ArrayRef<float> sinks(int64_t layer) const {
    return table[layer].sinks;
  }
  bool stores(int64_t layer) const { return owner(layer) == layer; }

  /// The cache that `layer` attends to.
  const Store &store(int64_t layer) const { return *table[owner(layer)].store; }
  /// A reader: up to and with its last query.
  int64_t seen(int64_t layer) const;

  /// One decode step of one layer, at the position that comes next; a reader's
  /// at its owner's newest, or `back` positions before it. Without `attention`
  /// the step is the same, but its result is left out, which costs far less.
  Attended decode(int64_t layer, const Input &input, bool attention = true,
                  int64_t back = 0);

  /// Whether one can go back to `tokens`: nothing that any layer stored then
  /// is gone.
  bool canTruncate(int64_t tokens) const;
  /// Layers that are longer than `tokens` go back to it.
  void truncate(int64_t tokens);
  void reset();
  /// The same tokens once more.
  std::unique_ptr<Reference> fork() const;
  /// What a cache is that was given a snapshot of this: readers have been where
  /// their owners are.
  std::unique_ptr<Reference> load() const;
  /// The longest of its layers.
  int64_t longest() const;

private:
  struct Layer {
    kv::PolicyAttr policy;
    kv::ShapeAttr shape;
    int64_t owner;
    mlir::Block *body;
    std::unique_ptr<Store> store; ///< an owner's
    int64_t queried = 0;          ///< a reader's seen
    std::vector<float> sinks;     ///< learned; empty: none
  };

  std::vector<Layer> table;
};

} // namespace kvc::reference

#endif // KVC_COMPILER_REFERENCE_REFERENCE_H
