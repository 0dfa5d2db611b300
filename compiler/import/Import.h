//===- Import.h - spec to cache level ---------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_IMPORT_IMPORT_H
#define KVC_COMPILER_IMPORT_IMPORT_H

#include "compiler/spec/Spec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kvc {

/// A module with one `kv.model`, a `kv.layer` a layer, each with the body of
/// its decode step. Lines of the spec become locations. Null where a point
/// refuses, with a diagnostic on the context.
mlir::OwningOpRef<mlir::ModuleOp> importSpec(mlir::MLIRContext &context,
                                             const spec::Spec &spec);

} // namespace kvc

#endif // KVC_COMPILER_IMPORT_IMPORT_H
