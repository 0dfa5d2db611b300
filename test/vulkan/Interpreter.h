//===- Interpreter.h - a kernel's lanes, one step after another -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a kernel as the stage `loops` writes it, and finds what a device whose
// lanes go together would hide: two lanes that touch the same element of a tile
// without a barrier between them, one of them to write it; a barrier or a
// shuffle that not all lanes come to; a loop whose lanes go different ways.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_VULKAN_INTERPRETER_H
#define KVC_TEST_VULKAN_INTERPRETER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <memory>
#include <string>
#include <vector>

namespace kvc::test {

/// A number of any type: integers and indices, sign-extended, or a float.
union Scalar {
  int64_t integer;
  float real;
};

/// What a memref stands for.
struct Memory {
  std::vector<Scalar> elements;
  /// Of a tile, by element: who wrote and who read it since which barrier.
  struct Touch {
    int64_t written = -1, read = -1; ///< number of the barrier before
    uint64_t writers = 0, readers = 0;
  };
  std::vector<Touch> touches;
};

class Interpreter {
public:
  explicit Interpreter(mlir::gpu::GPUFuncOp kernel);

  /// Runs one workgroup. `arguments` are the kernel's. False with error().
  bool run(int64_t group, llvm::ArrayRef<Memory *> arguments);
  const std::string &error() const { return text; }
  /// Barriers that a lane came to in the last run.
  int64_t barriers() const { return epoch; }

private:
  using Values = llvm::SmallVector<Scalar, 16>; ///< by lane
  struct View {
    Memory *memory;
    int64_t offset;
    llvm::SmallVector<int64_t, 3> strides;
  };

  bool walk(mlir::Block &block);
  bool step(mlir::Operation &op);
  bool arithmetic(mlir::Operation &op);
  Scalar compute(mlir::Operation &op, int lane, bool &isKnown);
  bool access(mlir::Operation &op, mlir::Value memref, mlir::OperandRange place,
              bool write);
  bool loop(mlir::scf::ForOp op);
  bool loop(mlir::scf::WhileOp op);
  bool branch(mlir::scf::IfOp op);
  bool fail(mlir::Operation &op, const llvm::Twine &why);

  const Values &of(mlir::Value value) const;
  Values &set(mlir::Value value) {
    Values &values = known[value];
    values.resize(lanes);
    return values;
  }
  void assign(mlir::ValueRange to, mlir::ValueRange from);
  bool isUniform(mlir::Value value) const;
  bool active(int lane) const { return mask >> lane & 1; }
  uint64_t allLanes() const { return ~uint64_t(0) >> (64 - lanes); }

  mlir::gpu::GPUFuncOp kernel;
  int lanes;
  int64_t group = 0, epoch = 0;
  uint64_t mask = 0;
  llvm::DenseMap<mlir::Value, Values> known;
  llvm::DenseMap<mlir::Value, View> memrefs;
  std::vector<std::unique_ptr<Memory>> tiles;
  mlir::Operation *terminator = nullptr; ///< of the block that was walked last
  std::string text;
};

} // namespace kvc::test

#endif // KVC_TEST_VULKAN_INTERPRETER_H
