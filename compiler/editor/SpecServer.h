//===- SpecServer.h - the language server of specs --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers what an editor says of .yaml and .yml. All else, of the session and
// of other documents, is another server's: it says what both can do.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EDITOR_SPECSERVER_H
#define KVC_COMPILER_EDITOR_SPECSERVER_H

#include "compiler/editor/SpecDocument.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LSP/Transport.h"

namespace kvc::editor {

class SpecServer {
public:
  /// Answers go to `transport`, which is not read from.
  explicit SpecServer(llvm::lsp::JSONTransport &transport);

  /// Answers a message; false where it is for the other server. What is no
  /// message of JSON-RPC is answered too, by an error.
  bool take(llvm::StringRef message);

private:
  void refuse(llvm::lsp::ErrorCode code, llvm::StringRef why);
  void show(const llvm::lsp::URIForFile &uri, int64_t version,
            std::string text);

  void didOpen(const llvm::lsp::DidOpenTextDocumentParams &params);
  void didChange(const llvm::lsp::DidChangeTextDocumentParams &params);
  void didClose(const llvm::lsp::DidCloseTextDocumentParams &params);
  void hover(const llvm::lsp::TextDocumentPositionParams &params,
             llvm::lsp::Callback<std::optional<llvm::lsp::Hover>> reply);
  void complete(const llvm::lsp::TextDocumentPositionParams &params,
                llvm::lsp::Callback<llvm::lsp::CompletionList> reply);
  void nothing(const llvm::lsp::NoParams &params,
               llvm::lsp::Callback<std::nullptr_t> reply);

  llvm::lsp::JSONTransport &transport;
  llvm::lsp::MessageHandler handler;
  llvm::lsp::OutgoingNotification<llvm::lsp::PublishDiagnosticsParams> publish;
  struct Open {
    SpecDocument document;
    int64_t version;
  };
  llvm::StringMap<Open> documents; ///< open ones, by file
};

} // namespace kvc::editor

#endif // KVC_COMPILER_EDITOR_SPECSERVER_H
