//===- SpecServer.cpp - the language server of specs ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/editor/SpecServer.h"

using namespace llvm;
using namespace llvm::lsp;
using namespace kvc::editor;

SpecServer::SpecServer(JSONTransport &transport)
    : transport(transport), handler(transport),
      publish(handler.outgoingNotification<PublishDiagnosticsParams>(
          "textDocument/publishDiagnostics")) {
  handler.notification("textDocument/didOpen", this, &SpecServer::didOpen);
  handler.notification("textDocument/didChange", this, &SpecServer::didChange);
  handler.notification("textDocument/didClose", this, &SpecServer::didClose);
  handler.method("textDocument/hover", this, &SpecServer::hover);
  handler.method("textDocument/completion", this, &SpecServer::complete);
  // What the other server can do, and a spec has nothing of.
  handler.method("textDocument/definition", this, &SpecServer::nothing);
  handler.method("textDocument/references", this, &SpecServer::nothing);
  handler.method("textDocument/documentSymbol", this, &SpecServer::nothing);
  handler.method("textDocument/codeAction", this, &SpecServer::nothing);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Whether JSON is nested deeper than any message is. Its parser recurses.
static bool isDeep(StringRef json) {
  constexpr int most = 256;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (inString)
      continue;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > most)
      return true;
  }
  return false;
}

void SpecServer::refuse(ErrorCode code, StringRef why) {
  Logger::error("{0}", why);
  transport.reply(nullptr, make_error<LSPError>(why.str(), code));
}

/// Whether a message is about a document of ours.
static bool isOurs(const json::Object &message) {
  const json::Object *params = message.getObject("params");
  const json::Object *document =
      params ? params->getObject("textDocument") : nullptr;
  const auto uri = document ? document->getString("uri") : std::nullopt;
  return uri && (uri->ends_with_insensitive(".yaml") ||
                 uri->ends_with_insensitive(".yml"));
}

bool SpecServer::take(StringRef message) {
  if (isDeep(message)) {
    refuse(ErrorCode::InvalidRequest, "the message is nested too deep");
    return true;
  }
  Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    refuse(ErrorCode::ParseError,
           "the message is not JSON: " + toString(parsed.takeError()));
    return true;
  }
  // The other server would end at these.
  const json::Object *object = parsed->getAsObject();
  const auto method = object ? object->getString("method") : std::nullopt;
  if (!object || object->getString("jsonrpc") != StringRef("2.0") ||
      (!method && !object->get("id"))) {
    refuse(ErrorCode::InvalidRequest, "the message is not of JSON-RPC 2.0");
    return true;
  }
  if (!method || !isOurs(*object))
    return false;
  const json::Value *params = object->get("params");
  if (const json::Value *id = object->get("id"))
    handler.onCall(*method, *params, *id);
  else
    handler.onNotify(*method, *params);
  return true;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

void SpecServer::show(const URIForFile &uri, int64_t version,
                      std::string text) {
  SpecDocument document(std::move(text));
  PublishDiagnosticsParams shown(uri, version);
  shown.diagnostics = document.diagnostics();
  documents.insert_or_assign(uri.file(), Open{std::move(document), version});
  publish(shown);
}

void SpecServer::didOpen(const DidOpenTextDocumentParams &params) {
  const TextDocumentItem &document = params.textDocument;
  show(document.uri, document.version, document.text);
}

void SpecServer::didChange(const DidChangeTextDocumentParams &params) {
  const auto &changes = params.contentChanges;
  if (changes.empty() || !documents.contains(params.textDocument.uri.file()))
    return;
  // Whole texts are what the server asks for; of several the last one holds.
  if (any_of(changes, [](auto &change) { return change.range.has_value(); }))
    return Logger::error("a change of '{0}' is of a part of it; changes are "
                         "read as whole texts",
                         params.textDocument.uri.uri());
  show(params.textDocument.uri, params.textDocument.version,
       changes.back().text);
}

void SpecServer::didClose(const DidCloseTextDocumentParams &params) {
  const auto it = documents.find(params.textDocument.uri.file());
  if (it == documents.end())
    return;
  publish(
      PublishDiagnosticsParams(params.textDocument.uri, it->second.version));
  documents.erase(it);
}

void SpecServer::hover(const TextDocumentPositionParams &params,
                       Callback<std::optional<Hover>> reply) {
  const auto it = documents.find(params.textDocument.uri.file());
  reply(it == documents.end() ? std::nullopt
                              : it->second.document.hover(params.position));
}

void SpecServer::complete(const TextDocumentPositionParams &params,
                          Callback<CompletionList> reply) {
  const auto it = documents.find(params.textDocument.uri.file());
  reply(it == documents.end()
            ? CompletionList()
            : it->second.document.completions(params.position));
}

void SpecServer::nothing(const NoParams &, Callback<std::nullptr_t> reply) {
  reply(nullptr);
}
