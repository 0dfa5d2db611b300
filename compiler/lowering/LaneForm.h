//===- LaneForm.h - what a lane is on a target ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowerings of tile operations are written once, in terms of lanes. On a
// CPU the lanes are the elements of a vector; on a GPU they are the invocations
// of a subgroup, each of which runs the same code on its own element. What
// differs between the two is here, and nowhere else: the target chooses the
// form, and `Lanes` asks it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LOWERING_LANEFORM_H
#define KVC_COMPILER_LOWERING_LANEFORM_H

#include "dialect/KVAttributes.h"
#include "dialect/KVLayout.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <memory>

namespace kvc {

struct Lanes;

/// What a lane is, and where what lanes work on lies. Values of lanes have the
/// type `of(element)`; a *place* is the indices of lane 0's element in a
/// memref, whose next elements are the other lanes'.
class LaneForm {
public:
  virtual ~LaneForm() = default;

  const int64_t lanes;

  // Values.
  virtual mlir::Type of(mlir::Type element) const = 0;
  /// The lanes' numbers, i32.
  virtual mlir::Value numbers(Lanes &at) const = 0;
  virtual mlir::Value broadcast(Lanes &at, mlir::Value scalar) const = 0;
  virtual mlir::Value fma(Lanes &at, mlir::Value a, mlir::Value b,
                          mlir::Value c) const = 0;
  /// Of each lane the value of another, `width` (half of a group of lanes that
  /// are combined) away.
  virtual mlir::Value moved(Lanes &at, mlir::Value value,
                            int64_t width) const = 0;
  /// Lane 0's value, as a scalar. All lanes have the same.
  virtual mlir::Value first(Lanes &at, mlir::Value value) const = 0;

  // Memory.
  virtual mlir::Value load(Lanes &at, mlir::Value memref,
                           mlir::ValueRange place) const = 0;
  virtual void store(Lanes &at, mlir::Value value, mlir::Value memref,
                     mlir::ValueRange place) const = 0;
  /// Zero in lanes without `mask`, whose memory is not looked at: it may lie
  /// outside.
  virtual mlir::Value loadMasked(Lanes &at, mlir::Value memref,
                                 mlir::ValueRange place,
                                 mlir::Value mask) const = 0;
  virtual void storeMasked(Lanes &at, mlir::Value value, mlir::Value memref,
                           mlir::ValueRange place, mlir::Value mask) const = 0;
  /// What is the same for all lanes, to one element.
  virtual void storeScalar(Lanes &at, mlir::Value scalar, mlir::Value memref,
                           mlir::ValueRange place) const = 0;
  /// The lanes' 16 bits each of lanes / 2 words from `address` on, as i32.
  virtual mlir::Value loadHalves(Lanes &at, mlir::Value words,
                                 mlir::Value address) const = 0;
  /// The lanes' 16 bits from `address` on, and after them as many again.
  virtual llvm::SmallVector<mlir::Value>
  loadTwoHalves(Lanes &at, mlir::Value words, mlir::Value address) const;
  /// The low 16 bits of `value` to there, in lanes with `mask`.
  virtual void storeHalves(Lanes &at, mlir::Value value, mlir::Value words,
                           mlir::Value address, mlir::Value mask) const = 0;
  /// Asks for `count` words from `address` on, where asking ahead helps.
  virtual void prefetch(Lanes &at, mlir::Value words, mlir::Value address,
                        int64_t count) const = 0;

  /// Numbers of a register of which instructions take any as a factor. 0: what
  /// meets all lanes is read alone.
  virtual int64_t factorsAtOnce() const { return 0; }

  /// Whether a lane may still be about to read what another writes next, so
  /// that what lanes read of each other is not to be written over.
  virtual bool runApart() const { return false; }

  // Tiles and pages.
  /// A tile of floats, rows x columns.
  virtual mlir::MemRefType tile(mlir::MLIRContext *context, int64_t rows,
                                int64_t columns) const = 0;
  /// Room for one, for the length of the function.
  virtual mlir::Value allocate(Lanes &at, mlir::MemRefType type) const = 0;
  /// A memref with these constants, floats in two dimensions. Like ones are the
  /// same; `user` is the operation that reads it.
  virtual mlir::Value table(Lanes &at, mlir::Operation *user,
                            mlir::DenseElementsAttr numbers) const = 0;
  virtual mlir::Type view(mlir::MLIRContext *context) const = 0;
  virtual mlir::MemRefType page(mlir::MLIRContext *context,
                                int64_t words) const = 0;
  /// Entry `number` (an index) of the page table of `stream` in `view`.
  virtual mlir::Value pageOf(Lanes &at, mlir::Value view, int64_t stream,
                             mlir::Value number,
                             mlir::MemRefType type) const = 0;

protected:
  explicit LaneForm(int64_t lanes) : lanes(lanes) {}
};

// A file each.
std::unique_ptr<LaneForm> createVectorLanes(int64_t lanes, bool byLane);
std::unique_ptr<LaneForm> createInvocationLanes(int64_t lanes);

/// The form that the target's lanes have.
inline std::unique_ptr<LaneForm> formOf(kv::TargetAttr target) {
  if (target.lanesAreInvocations())
    return createInvocationLanes(target.getLanes());
  return createVectorLanes(target.getLanes(), target.multipliesByLane());
}

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_LANEFORM_H
