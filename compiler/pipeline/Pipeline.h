//===- Pipeline.h - the ordered list of stages ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_PIPELINE_PIPELINE_H
#define KVC_COMPILER_PIPELINE_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace kvc {

/// What a compile can stop at, in order. `--emit` takes the lower-case names.
enum class Stage {
  KV,      ///< cache level, as imported
  Steps,   ///< cache level, like layers joined, streams and layouts chosen
  Tiles,   ///< tile level
  Loops,   ///< vector, scf and memref
  LLVM,    ///< the LLVM dialect
  IR,      ///< LLVM IR of generated code and runtime, optimised
  Asm,     ///< assembly
  Object,  ///< object file
  Archive, ///< static library, with its C header beside it
  Library, ///< shared library, likewise
  Header,  ///< the C header alone
  SPIRV,   ///< a GPU's kernels behind the loops: the SPIR-V dialect
  Kernels  ///< those as a file of SPIR-V
};

std::optional<Stage> parseStage(llvm::StringRef name);
llvm::StringRef stageName(Stage stage);

/// What code is checked by as it runs. Such a library is for a process that has
/// the sanitizers' own runtime.
enum class Sanitize {
  Nothing,
  Address,      ///< AddressSanitizer; in the runtime UBSan too
  AddressIfCan, ///< the same where the target has it, else nothing
};

struct CompileOptions {
  std::string target; ///< "": what IR was made for, else this machine's default
  std::string gpu;    ///< "": what IR was made for, else none: a CPU's library
  int64_t subgroup = 0; ///< of the GPU; 0: what IR was made for, else a default
  Sanitize sanitize = Sanitize::Nothing;
  Stage stop = Stage::Library;
  bool withHeader = true; ///< whether a library's lies beside it
};

/// In the metadata of a diagnostic: it is an OutputError.
inline constexpr llvm::StringLiteral outputFailed = "output failed";

/// All dialects that any stage reads or writes, and those of extendDialects.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Dialects with points of their own, for a tool that knows more than kvc does.
/// Call it before anything is compiled.
void extendDialects(void (*extend)(mlir::DialectRegistry &registry));

/// All of kvc's passes, for tools that run them by name.
void registerPasses();

/// Takes `module`, at whatever stage it is, to `options.stop` and writes
/// `output` ("-": standard output, for text). Diagnostics go to the module's
/// context. On failure nothing is written and an older file stays.
llvm::LogicalResult compileModule(mlir::ModuleOp module,
                                  const CompileOptions &options,
                                  llvm::StringRef output);

/// Takes `module` to `options.stop`, a stage up to `Stage::LLVM`, and writes
/// nothing.
llvm::LogicalResult lowerModule(mlir::ModuleOp module,
                                const CompileOptions &options);

/// The same as compileModule() for a file of LLVM IR, as `Stage::IR` writes it.
llvm::LogicalResult compileIRFile(mlir::MLIRContext &context,
                                  llvm::StringRef input,
                                  const CompileOptions &options,
                                  llvm::StringRef output);

} // namespace kvc

#endif // KVC_COMPILER_PIPELINE_PIPELINE_H
