//===- Model.h - what the user names: a spec or IR --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_MODEL_H
#define KVC_COMPILER_HARNESS_MODEL_H

#include "compiler/pipeline/Pipeline.h"
#include "compiler/spec/Parser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace kvc::harness {

/// What is wrong at one place of a file; line 0: of the file as a whole.
struct Problem {
  std::string file;
  unsigned line = 0, column = 0;
  std::string message;
};

/// All that is wrong with a file, as text for people and one by one.
class ModelError : public llvm::ErrorInfo<ModelError, llvm::StringError> {
public:
  ModelError(const llvm::Twine &text, std::vector<Problem> problems)
      : ErrorInfo(text, llvm::inconvertibleErrorCode()),
        problems(std::move(problems)) {}
  const std::vector<Problem> problems;
  static char ID; // NOLINT(readability-identifier-naming): LLVM's name
};

/// A spec (.yaml, .yml) or IR at any stage (.mlir), read; "-" is a spec on
/// standard input. Errors carry all diagnostics, as text that points into the
/// file.
class Model {
public:
  /// Without `threads` the context starts none, which many small models want.
  /// `defaults` are those of what it is for.
  static llvm::Expected<std::unique_ptr<Model>>
  load(llvm::StringRef path, bool threads = true,
       const spec::Defaults &defaults = {});
  /// Whether a file is a spec, by its name: .yaml, .yml, .json, or "-".
  static bool isSpec(llvm::StringRef path);
  /// `text` is a spec; `name` is what diagnostics call its file.
  static llvm::Expected<std::unique_ptr<Model>>
  fromSpec(llvm::StringRef text, llvm::StringRef name, bool threads = true);

  mlir::ModuleOp module() { return *op; }
  /// The spec that it came from; null for IR. A spec that was accepted and
  /// does not compile is no fault of the user's.
  const spec::Spec *getSpec() const { return source ? &*source : nullptr; }

  /// Compiles a copy.
  llvm::Error compile(const CompileOptions &options, llvm::StringRef output);

private:
  explicit Model(bool threads);
  llvm::Error importFrom(std::optional<spec::Spec> spec,
                         const spec::Diagnostics &diags);
  llvm::Error parseFile(llvm::StringRef path);

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> op;
  std::optional<spec::Spec> source;
};

/// Compiles a file of LLVM IR, as the stage before assembly writes it.
llvm::Error compileIR(llvm::StringRef path, const CompileOptions &options,
                      llvm::StringRef output);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_MODEL_H
