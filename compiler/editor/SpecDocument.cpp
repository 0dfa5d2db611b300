//===- SpecDocument.cpp - what an editor shows of a spec ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/editor/SpecDocument.h"

#include "compiler/import/Import.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/spec/Keys.h"
#include "compiler/spec/Parser.h"
#include "compiler/spec/Text.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

using namespace kvc::editor;
namespace lsp = llvm::lsp;
namespace form = kvc::spec::form;
using kvc::spec::Key;

SpecDocument::SpecDocument(std::string given)
    : text(std::move(given)), isSpec(spec::isMeantAsSpec(text.view())) {}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// What points refuse of a spec that the parser takes.
static void importInto(kvc::spec::Diagnostics &diags,
                       const kvc::spec::Spec &spec) {
  mlir::DialectRegistry registry;
  kvc::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &said) {
    kvc::spec::Location at;
    if (auto place = said.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      at = {place.getLine(), place.getColumn()};
    diags.error(at, said.str());
  });
  if (!kvc::importSpec(context, spec) && diags.empty())
    diags.error({}, "the spec cannot be imported");
}

std::vector<lsp::Diagnostic> SpecDocument::diagnostics() const {
  std::vector<lsp::Diagnostic> result;
  if (!isSpec)
    return result;
  spec::Diagnostics diags;
  if (auto spec = spec::parseSpec(text.view(), "spec.yaml", diags))
    importInto(diags, *spec);
  auto add = [&](const lsp::Range &range, std::string message) {
    lsp::Diagnostic shown;
    shown.range = range;
    shown.severity = lsp::DiagnosticSeverity::Error;
    shown.source = "kvc";
    shown.message = std::move(message);
    result.push_back(std::move(shown));
  };
  for (const spec::Diagnostic &error : diags.sorted()) {
    if (result.size() == spec::maxShown) {
      add({}, std::to_string(diags.count() - result.size()) +
                  " more errors are not shown");
      break;
    }
    // What is about the text as a whole stands at its first token.
    add(text.rangeOf(spec::tokenAt(text.view(), text.byteOf(error.at))),
        error.message);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What the key table says
//===----------------------------------------------------------------------===//

static std::string defaultOf(const Key &key) {
  return key.required           ? "required"
         : key.fallback.empty() ? "no default"
                                : "default: " + std::string(key.fallback);
}

static std::string describe(const Key &key) {
  std::string text = "**" + std::string(key.name) +
                     "**: " + std::string(key.doc) +
                     "\n\nvalue: " + expected(key) + "\n\n" + defaultOf(key);
  if (!key.with.empty())
    text += "\n\ntaken with type: " + kvc::spec::joinWords(key.with);
  if (perLayer(key))
    text += "\n\nan entry of layers may have its own";
  return text;
}

std::optional<lsp::Hover>
SpecDocument::hover(const lsp::Position &position) const {
  if (!isSpec)
    return std::nullopt;
  const auto written = spec::writtenKeyAt(text.view(), text.byteOf(position));
  if (!written)
    return std::nullopt;
  lsp::Hover hover(text.rangeOf(written->name));
  hover.contents.value = describe(*written->key);
  return hover;
}

//===----------------------------------------------------------------------===//
// Completions
//===----------------------------------------------------------------------===//

/// The values of a key that can be named.
static std::vector<std::string> valuesOf(const kvc::spec::Choices &choices) {
  const Key &key = *choices.valueOf;
  const unsigned forms = choices.inItem ? key.items : key.forms;
  std::vector<std::string> values;
  if (forms & (form::Word | form::Choice))
    for (std::string_view word : kvc::spec::split(key.words))
      values.emplace_back(word);
  if (forms & form::Boolean)
    values.insert(values.end(), {"true", "false"});
  // An example of a list of maps is one of an item.
  const std::string example(key.example);
  if ((forms & form::Map) && choices.inLine)
    values.push_back(example);
  if ((forms & form::List) && choices.inLine && !example.empty())
    values.push_back((key.items & form::Map) ? "[" + example + "]" : example);
  return values;
}

lsp::CompletionList
SpecDocument::completions(const lsp::Position &position) const {
  lsp::CompletionList list;
  // A new file is no spec yet: its first key is kvc.
  const bool isEmpty =
      text.view().find_first_not_of("kvc \t\r\n") == std::string_view::npos;
  if (!isSpec && !isEmpty)
    return list;
  const auto choices = spec::choicesAt(text.view(), text.byteOf(position));
  if (!choices)
    return list;
  const lsp::Range word = text.rangeOf(choices->word);
  auto add = [&](const std::string &label, lsp::CompletionItemKind kind,
                 std::string written, std::string detail) {
    // In the table's order, not the alphabet's.
    const std::string order = std::to_string(1000 + list.items.size());
    lsp::CompletionItem item(label, kind, order);
    item.detail = std::move(detail);
    item.textEdit = lsp::TextEdit{word, std::move(written)};
    list.items.push_back(std::move(item));
  };
  for (const Key *key : choices->names) {
    const std::string name(key->name);
    add(name, lsp::CompletionItemKind::Property,
        choices->hasColon ? name : name + ": ", defaultOf(*key));
    list.items.back().documentation =
        lsp::MarkupContent{lsp::MarkupKind::Markdown, describe(*key)};
  }
  if (choices->valueOf)
    for (const std::string &value : valuesOf(*choices))
      add(value, lsp::CompletionItemKind::Value, value,
          value == choices->valueOf->fallback ? "default" : "");
  return list;
}
