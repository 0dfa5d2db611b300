//===- SpecFuzzer.cpp - any bytes as a spec -----------------------*- C++
//-*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is a spec or there are errors, never both; a spec's canonical text says
// the same; and it can be imported, or a point says why not. What an editor
// asks of a text while it is written has an answer within it.
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "compiler/import/Import.h"
#include "compiler/spec/Cursor.h"
#include "compiler/spec/Parser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

using namespace kvc;
using kvc::test::require;

/// A context keeps what was ever said in it.
static mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (!context || ++uses % 256 == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

static void checkCanonical(const spec::Spec &spec) {
  spec::Diagnostics diags;
  auto again = spec::parseSpec(spec.canonical, "canonical.yaml", diags);
  if (!again)
    std::fprintf(stderr, "%s\n%s\n", spec.canonical.c_str(),
                 diags.str().c_str());
  require(again.has_value(), "the canonical text is refused");
  require(again->canonical == spec.canonical,
          "the canonical text of the canonical text is another");
}

static void checkImport(const spec::Spec &spec) {
  mlir::MLIRContext &context = freshContext();
  bool said = false;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &) { said = true; });
  auto module = importSpec(context, spec);
  require(static_cast<bool>(module) != said,
          module ? "it is imported, with an error"
                 : "it is not imported, and nothing says why");
}

static void checkCursor(std::string_view text, std::size_t at) {
  const spec::Extent token = spec::tokenAt(text, at);
  require(token.begin == at && token.end >= at && token.end <= text.size(),
          "a token that does not lie in the text");
  if (auto written = spec::writtenKeyAt(text, at))
    require(written->name.begin <= at && at <= written->name.end,
            "a key that is elsewhere");
  if (auto choices = spec::choicesAt(text, at))
    require(choices->word.begin <= at && at <= choices->word.end &&
                choices->word.end <= text.size(),
            "a choice of another word");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  spec::Diagnostics diags;
  auto spec = spec::parseSpec(text, "fuzz.yaml", diags);
  require(spec.has_value() == diags.empty(),
          spec ? "a spec with errors" : "no spec and no error");
  require(spec::isMeantAsSpec(text) || !spec, "a spec is not meant as one");
  checkCursor(text, size ? data[0] * 31U % (size + 1) : 0);
  if (!spec) {
    require(diags.str().find("error: ") != std::string::npos,
            "an error that says nothing");
    return 0;
  }
  checkCanonical(*spec);
  // Many layers only take long.
  if (spec->layers.size() <= 64)
    checkImport(*spec);
  return 0;
}
