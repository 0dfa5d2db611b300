//===- TileBuilder.h - what all tile programs are built with ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TRANSFORMS_TILEBUILDER_H
#define KVC_COMPILER_TRANSFORMS_TILEBUILDER_H

#include "compiler/transforms/Passes.h"
#include "dialect/KVLayout.h"

namespace kvc {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::Location;
using mlir::MemRefType;
using mlir::OpBuilder;
using mlir::Type;
using mlir::TypeRange;
using mlir::Value;
using mlir::ValueRange;
namespace func = mlir::func;

/// Tokens that a prefill appends before their queries attend together, at the
/// most: a piece of it.
constexpr int64_t PieceTokens = 128;

/// The target that the step's module is compiled for; null: none yet.
kv::TargetAttr targetOf(kv::StepOp step);

/// A run's columns begin at multiples of this many tokens in every stream.
int64_t runUnit(kv::StepOp step);

/// Runs that are added up one by one, and the tokens that make, more or less,
/// where a run ends at multiples of `border` tokens.
constexpr int64_t StretchRuns = 256;
inline int64_t stretchTokens(int64_t border) {
  return std::clamp<int64_t>(StretchRuns * border, 2048, 16384);
}

/// Bytes of a stack that a kernel's tiles take at the most: with what registers
/// are put aside, 96 KiB. Threads have 128 KiB where they have least (musl's),
/// and the runtime's own frames take 20 of them.
constexpr int64_t FrameBytes = 94 * 1024;

/// [begin, end) of tokens; end <= begin: none.
struct TokenRange {
  Value begin;
  Value end;
};

/// A run as tile operations take it.
struct Run {
  Value token; ///< its first token
  Value lead;  ///< columns before it
  Value count; ///< columns in all
  Value stop;  ///< the token behind it
};

/// Builds the functions of one step at the end of its module: index arithmetic
/// that reads like the formula, loops over runs and heads.
class TileBuilder {
public:
  explicit TileBuilder(kv::StepOp step);

  kv::StepOp step;
  kv::ShapeAttr shape;
  kv::PolicyAttr policy;
  SmallVector<kv::StreamAttr> streams;
  OpBuilder builder;
  Location loc;

  /// Opens `@<step>_<suffix>`, with the insertion point in its body.
  func::FuncOp function(StringRef suffix, TypeRange inputs, TypeRange results);
  void finish(ValueRange results = {});

  Type index() { return builder.getIndexType(); }
  Value constant(int64_t value);
  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, int64_t b);
  Value divide(Value a, int64_t b);
  Value remainder(Value a, int64_t b);
  Value least(Value a, Value b);
  Value greatest(Value a, Value b);

  /// How many of the tokens beyond the sinks are codes of `plane`.
  Value codedTokens(kv::Plane plane, Value seen);
  /// The first token that is no sink and stored.
  Value firstLive(Value seen);
  /// Tokens that a stream holds at length `seen`. Where `newest` is given, the
  /// stream is at that length, which is less, and the range is of what a query
  /// beyond it still attends to.
  TokenRange range(kv::StreamAttr stream, Value seen, Value newest = {});
  /// Tokens whose pages a stream keeps at length `seen`, with what `rollback`
  /// holds, where the longest length so far was `reached`.
  TokenRange heldRange(kv::StreamAttr stream, Value seen, Value reached);
  /// Tokens that are no longer stored at length `seen`.
  Value evicted(Value seen);
  TokenRange intersect(TokenRange a, TokenRange b);

  /// Borders that a run of these streams must not cross.
  SmallVector<int64_t> borders(ArrayRef<kv::StreamAttr> of, int64_t most);
  /// A loop over the runs of `tokens`. `body` gets the values carried and
  /// gives their next ones.
  SmallVector<Value>
  forRuns(TokenRange tokens, int64_t origin, ArrayRef<int64_t> borders,
          ValueRange carried,
          llvm::function_ref<SmallVector<Value>(Run, ValueRange)> body);
  /// A loop over the kv heads, likewise.
  SmallVector<Value>
  forHeads(ValueRange carried,
           llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// The query heads that meet `head`, as many at a time as the schedule's
  /// block has. `body` gets the first of a block. The last block is a whole one
  /// too, and does some heads again where blocks do not fill the group.
  void forBlocks(Value head, llvm::function_ref<void(Value)> body);
  /// Query heads of a block.
  int64_t blockHeads();

  kv::PageType pageType(int64_t stream);
  Value page(Value view, int64_t stream, Value token);

  /// A buffer of f32, or of the interface's type.
  MemRefType bufferType(ArrayRef<int64_t> extents);
  MemRefType ioType(ArrayRef<int64_t> extents);
  MemRefType anglesType();

private:
  Value nextBorder(Value token, int64_t origin, ArrayRef<int64_t> borders,
                   Value end);
};

// The functions of a step, one file each.
void buildQueries(TileBuilder &tiles); ///< ranges, indices, live, plan
void buildAppend(TileBuilder &tiles);
void buildCode(TileBuilder &tiles); ///< code, recode
void buildRead(TileBuilder &tiles);
void buildSnapshots(TileBuilder &tiles); ///< save, restore, by stream
void buildAttend(TileBuilder &tiles);    ///< attend, attend_rows
void buildMerge(TileBuilder &tiles);

} // namespace kvc

#endif // KVC_COMPILER_TRANSFORMS_TILEBUILDER_H
