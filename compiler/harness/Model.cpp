//===- Model.cpp - what the user names: a spec or IR ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Model.h"

#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "compiler/import/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace kvc::harness {

char ModelError::ID;

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

Model::Model(bool threads)
    : context(std::make_unique<mlir::MLIRContext>(
          makeRegistry(), threads ? mlir::MLIRContext::Threading::ENABLED
                                  : mlir::MLIRContext::Threading::DISABLED)) {
  context->printOpOnDiagnostic(false);
}

namespace {
/// Collects a context's diagnostics as text, with the lines they point at.
class Diagnosed {
public:
  explicit Diagnosed(mlir::MLIRContext *context)
      : stream(text), handler(sources, context, stream),
        watcher(context, [this](mlir::Diagnostic &diagnostic) {
          problems.push_back(problemOf(diagnostic));
          for (const mlir::DiagnosticArgument &data : diagnostic.getMetadata())
            ofOutput |=
                data.getKind() ==
                    mlir::DiagnosticArgument::DiagnosticArgumentKind::String &&
                data.getAsString() == outputFailed;
          return failure(); // the other prints it
        }) {}

  SourceMgr &sourceManager() { return sources; }
  /// What was said; a failure that said nothing says so.
  Error error(const Twine &otherwise) {
    StringRef trimmed = StringRef(text).rtrim();
    // What is of no place is the tool's own word.
    trimmed.consume_front("<unknown>:0: error: ");
    if (ofOutput)
      return make_error<OutputError>(trimmed, inconvertibleErrorCode());
    if (trimmed.empty())
      return userError(otherwise);
    return make_error<ModelError>(trimmed, std::move(problems));
  }

private:
  static Problem problemOf(const mlir::Diagnostic &diagnostic) {
    Problem problem;
    if (auto at =
            diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
      problem.file = at.getFilename().str();
      problem.line = at.getLine();
      problem.column = at.getColumn();
    }
    problem.message = diagnostic.str();
    return problem;
  }

  std::vector<Problem> problems;
  std::string text;
  raw_string_ostream stream;
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler;
  mlir::ScopedDiagnosticHandler watcher;
  bool ofOutput = false;
};
} // namespace

bool Model::isSpec(StringRef path) {
  StringRef suffix = sys::path::extension(path);
  return path == "-" || suffix == ".yaml" || suffix == ".yml" ||
         suffix == ".json";
}

Expected<std::unique_ptr<Model>> Model::load(StringRef path, bool threads,
                                             const spec::Defaults &defaults) {
  std::unique_ptr<Model> model(new Model(threads));
  StringRef suffix = sys::path::extension(path);
  if (suffix == ".mlir") {
    if (Error error = model->parseFile(path))
      return error;
    return model;
  }
  if (!isSpec(path))
    return userError("'" + path +
                     "' is neither a spec (.yaml, .yml; - on standard "
                     "input) nor IR (.mlir)");
  spec::Diagnostics diags;
  auto spec = spec::parseSpecFile(path.str(), diags, defaults);
  if (Error error = model->importFrom(std::move(spec), diags))
    return error;
  return model;
}

static Error errorOf(const spec::Diagnostics &diags) {
  std::vector<Problem> problems;
  for (const spec::Diagnostic &error : diags.sorted())
    problems.push_back(
        {diags.fileOf(error), error.at.line, error.at.column, error.message});
  return make_error<ModelError>(StringRef(diags.str()).rtrim(),
                                std::move(problems));
}

Error Model::importFrom(std::optional<spec::Spec> spec,
                        const spec::Diagnostics &diags) {
  if (!spec)
    return errorOf(diags);
  Diagnosed diagnosed(context.get());
  source = std::move(spec);
  op = importSpec(*context, *source);
  return op ? Error::success()
            : diagnosed.error("'" + source->file + "' cannot be imported");
}

Expected<std::unique_ptr<Model>> Model::fromSpec(StringRef text, StringRef name,
                                                 bool threads) {
  std::unique_ptr<Model> model(new Model(threads));
  spec::Diagnostics diags;
  auto spec = spec::parseSpec(std::string_view(text.data(), text.size()),
                              name.str(), diags);
  if (Error error = model->importFrom(std::move(spec), diags))
    return error;
  return model;
}

Error Model::parseFile(StringRef path) {
  Diagnosed diagnosed(context.get());
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return userError("cannot read '" + path +
                     "': " + buffer.getError().message());
  diagnosed.sourceManager().AddNewSourceBuffer(std::move(*buffer), SMLoc());
  op = mlir::parseSourceFile<mlir::ModuleOp>(diagnosed.sourceManager(),
                                             context.get());
  return op ? Error::success()
            : diagnosed.error("'" + path + "' cannot be parsed");
}

Error Model::compile(const CompileOptions &options, StringRef output) {
  Diagnosed diagnosed(context.get());
  mlir::OwningOpRef<mlir::ModuleOp> copy(op->clone());
  if (succeeded(compileModule(*copy, options, output)))
    return Error::success();
  return diagnosed.error("the compile fails without a reason");
}

Error compileIR(StringRef path, const CompileOptions &options,
                StringRef output) {
  mlir::MLIRContext context(makeRegistry());
  Diagnosed diagnosed(&context);
  if (succeeded(compileIRFile(context, path, options, output)))
    return Error::success();
  return diagnosed.error("the compile fails without a reason");
}

} // namespace kvc::harness
