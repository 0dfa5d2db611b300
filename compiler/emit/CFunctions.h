//===- CFunctions.h - a step's functions for the runtime --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EMIT_CFUNCTIONS_H
#define KVC_COMPILER_EMIT_CFUNCTIONS_H

#include "dialect/KVOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace kvc {

/// Builds the functions that runtime/Generated.h names around those of one
/// step, which take memrefs as MLIR passes them: pointer, aligned pointer,
/// offset, sizes, strides.
class CFunctions {
public:
  CFunctions(mlir::OpBuilder &builder, kv::StepOp step);

  /// Each gives the symbol's name; "" where the step has no such function.
  std::string store(llvm::StringRef suffix); ///< results to an array
  std::string append();
  /// A function that takes a view and a length, as the runtime does too.
  std::string onLength(llvm::StringRef suffix);
  std::string attend(llvm::StringRef suffix, int64_t rows);
  std::string merge();
  std::string read();
  /// `save` or `restore` of a stream.
  std::string snapshot(llvm::StringRef suffix, kv::StreamAttr stream);
  /// Whether the step's softmax starts with a logit that is given.
  bool takesSinks();

private:
  /// The address of one minus infinity a head, for one function.
  mlir::Value noSinks(llvm::StringRef suffix);
  mlir::LLVM::LLVMFuncOp callee(llvm::StringRef suffix);
  /// Opens `@<step>_c_<suffix>`, with the insertion point in its body.
  mlir::LLVM::LLVMFuncOp open(llvm::StringRef suffix, mlir::Type result,
                              llvm::ArrayRef<mlir::Type> inputs);
  mlir::Value integer(int64_t value);
  /// A memref's parts, dense and row-major.
  void pass(llvm::SmallVectorImpl<mlir::Value> &arguments, mlir::Value pointer,
            llvm::ArrayRef<mlir::Value> sizes);
  void passStatic(llvm::SmallVectorImpl<mlir::Value> &arguments,
                  mlir::Value pointer, llvm::ArrayRef<int64_t> sizes);
  void passOut(llvm::SmallVectorImpl<mlir::Value> &arguments, mlir::Value out,
               mlir::Value lse, mlir::Value partial, mlir::Value count,
               mlir::Value lseStride = {});
  mlir::Value element(mlir::Value array, int64_t index, mlir::Type type);

  mlir::OpBuilder &builder;
  kv::StepOp step;
  mlir::Location loc;
  mlir::Type pointer, i64, none;
};

} // namespace kvc

#endif // KVC_COMPILER_EMIT_CFUNCTIONS_H
