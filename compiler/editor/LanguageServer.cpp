//===- LanguageServer.cpp - one language server for specs and IR ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's server reads messages from C's stdin, answers each before it reads the
// next, and lets no one else have them. So its stdin is a stream that has its
// messages only: those about specs are answered when MLIR's server asks for the
// next one. All is one thread, and answers never mix on standard output.
//
//===----------------------------------------------------------------------===//

#include "compiler/editor/LanguageServer.h"

#include "compiler/editor/SpecServer.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

#include <cctype>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

using namespace llvm;
using namespace llvm::lsp;
using namespace kvc::editor;

/// Whether an option of MLIR's server is given.
static bool isGiven(StringRef option) {
  const cl::Option *found = cl::getRegisteredOptions().lookup(option);
  return found && found->getNumOccurrences();
}

namespace {
/// The messages of a stream that are no spec's.
class OtherMessages {
public:
  explicit OtherMessages(std::FILE *in) : in(in) {}

  /// Copies some bytes of them; 0 at the end.
  size_t read(char *buffer, size_t size);

private:
  void begin();
  /// The next message, as it was framed; empty at the end.
  std::string next();

  std::FILE *in;
  std::string message;
  size_t taken = 0; ///< bytes of `message`
  JSONStreamStyle style = JSONStreamStyle::Standard;
  std::optional<JSONTransportInputOverFile> input;
  std::optional<JSONTransport> transport;
  std::optional<SpecServer> specs;
};
} // namespace

/// MLIR's server has read its options by the time that it reads messages.
void OtherMessages::begin() {
  // A message has a header, or stands between the comments of
  // --input-style=delimited.
  int first = std::getc(in);
  while (first != EOF && std::isspace(first))
    first = std::getc(in);
  if (first != EOF)
    std::ungetc(first, in);
  if (first == '/' || first == '{')
    style = JSONStreamStyle::Delimited;
  input.emplace(in, style);
  transport.emplace(in, outs(), style,
                    /*PrettyOutput=*/isGiven("pretty") || isGiven("lit-test"));
  specs.emplace(*transport);
}

std::string OtherMessages::next() {
  if (!specs)
    begin();
  const bool delimited = style == JSONStreamStyle::Delimited;
  std::string json;
  while (!input->isEndOfInput() && !input->hasError()) {
    if (failed(input->readMessage(json)) ||
        (delimited && StringRef(json).trim().empty()) || specs->take(json))
      continue;
    return delimited ? json + "\n// -----\n"
                     : "Content-Length: " + std::to_string(json.size()) +
                           "\r\n\r\n" + json;
  }
  return {};
}

size_t OtherMessages::read(char *buffer, size_t size) {
  if (taken == message.size()) {
    message = next();
    taken = 0;
  }
  const size_t copied = message.copy(buffer, size, taken);
  taken += copied;
  return copied;
}

/// A stream to read them from.
static std::FILE *open(OtherMessages &messages) {
#ifdef __APPLE__
  return funopen(
      &messages,
      [](void *from, char *buffer, int size) {
        return static_cast<int>(static_cast<OtherMessages *>(from)->read(
            buffer, static_cast<size_t>(size)));
      },
      nullptr, nullptr, nullptr);
#else
  cookie_io_functions_t functions = {};
  functions.read = [](void *from, char *buffer, size_t size) {
    return static_cast<ssize_t>(
        static_cast<OtherMessages *>(from)->read(buffer, size));
  };
  return fopencookie(&messages, "r", functions);
#endif
}

int kvc::editor::languageServerMain(int argc, char **argv) {
  const cl::extrahelp more(
      "\nDocuments of .yaml and .yml are specs of kvc, which have diagnostics, "
      "hover and completions;\nall others are MLIR with the kv dialect.\n");
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  OtherMessages messages(stdin);
  std::FILE *own = stdin, *filtered = open(messages);
  if (!filtered) {
    std::perror("kvc-lsp-server: standard input");
    return 1;
  }
  stdin = filtered;
  const bool good = succeeded(mlir::MlirLspServerMain(argc, argv, registry));
  stdin = own;
  std::fclose(filtered);
  return good ? 0 : 1;
}
