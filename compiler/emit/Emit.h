//===- Emit.h - what a library says and exports -----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EMIT_EMIT_H
#define KVC_COMPILER_EMIT_EMIT_H

#include "dialect/KVOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace kvc {

#define GEN_PASS_DECL
#include "compiler/emit/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/emit/Passes.h.inc"

/// The C header that goes beside a library: the interface, the library's entry
/// point, its shapes as macros. From the same IR as the library.
std::string headerFor(kv::ModelOp model);

} // namespace kvc

#endif // KVC_COMPILER_EMIT_EMIT_H
