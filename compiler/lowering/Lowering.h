//===- Lowering.h - what all lowerings of tile ops share --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LOWERING_LOWERING_H
#define KVC_COMPILER_LOWERING_LOWERING_H

#include "compiler/lowering/Record.h"
#include "dialect/KVOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace kvc {

#define GEN_PASS_DECL
#include "compiler/lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/lowering/Passes.h.inc"

/// What tile-level types become: a tile and a state a memref of floats, a page
/// a memref of words; where they lie, the form says.
class TileTypeConverter : public mlir::TypeConverter {
public:
  TileTypeConverter(mlir::MLIRContext *context, const LaneForm &form,
                    llvm::StringRef dot);
  const LaneForm &form;
  std::string dot; ///< of #kv.target

  mlir::MemRefType convertTile(kv::TileType tile) const;
  mlir::MemRefType convertState(kv::StateType state) const;
};

/// Where in its memref a state keeps what: m of all heads, then l, each in as
/// many rows as these numbers fill, then a row of the accumulator for each
/// head.
class StateRows {
public:
  StateRows(kv::StateType type, mlir::MemRefType memref)
      : rows(type.getRows()), width(memref.getDimSize(1)) {}

  /// Rows of m, and of l.
  static int64_t rowsOfNumbers(int64_t rows, int64_t width) {
    return llvm::divideCeil(rows, width);
  }
  int64_t first() const { return 2 * rowsOfNumbers(rows, width); }
  int64_t sums() const { return rowsOfNumbers(rows, width); }

  /// Places of a head's numbers, and its row of the accumulator.
  SmallVector<Value> greatest(Lanes &at, Value row) const;
  SmallVector<Value> sum(Lanes &at, Value row) const;
  Value accumulator(Lanes &at, Value row) const;

  /// Weights, l and acc are this times what they stand for: what a small weight
  /// weighs would else be subnormal and lose its bits where values are tiny.
  /// Values of 2^56 in 2^29 tokens stay below 2^127.
  static constexpr double Weight = 0x1p40;

private:
  SmallVector<Value> number(Lanes &at, int64_t from, Value row) const;

  int64_t rows, width;
};

/// The largest logit to subtract from others; 0 where there is none yet, so
/// that what is minus infinity stays it.
mlir::Value finiteGreatest(Lanes &at, mlir::Value greatest);

// One file an operation or a few of one kind.
void populatePagePatterns(const TileTypeConverter &, mlir::RewritePatternSet &);
void populateRowPatterns(const TileTypeConverter &, mlir::RewritePatternSet &);
void populateContractPatterns(const TileTypeConverter &,
                              mlir::RewritePatternSet &);
void populateAccumulatePatterns(const TileTypeConverter &,
                                mlir::RewritePatternSet &);
void populateArrangePatterns(const TileTypeConverter &,
                             mlir::RewritePatternSet &);
void populateFoldPatterns(const TileTypeConverter &, mlir::RewritePatternSet &);
void populateSoftmaxPatterns(const TileTypeConverter &,
                             mlir::RewritePatternSet &);
void populateStatePatterns(const TileTypeConverter &,
                           mlir::RewritePatternSet &);
void populateEncodePatterns(const TileTypeConverter &,
                            mlir::RewritePatternSet &);
void populateQuantizePatterns(const TileTypeConverter &,
                              mlir::RewritePatternSet &);
void populateDecodePatterns(const TileTypeConverter &,
                            mlir::RewritePatternSet &);
void populateSnapshotPatterns(const TileTypeConverter &,
                              mlir::RewritePatternSet &);

/// A pattern that knows the lanes.
template <typename Op> struct TilePattern : mlir::OpConversionPattern<Op> {
  TilePattern(const TileTypeConverter &converter, mlir::MLIRContext *context)
      : mlir::OpConversionPattern<Op>(converter, context), form(converter.form),
        lanes(form.lanes) {}
  const TileTypeConverter &types() const {
    return *static_cast<const TileTypeConverter *>(this->typeConverter);
  }
  const LaneForm &form;
  int64_t lanes;
};

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_LOWERING_H
