//===- kvc-lsp-server.cpp - the language server of specs and IR -----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/editor/LanguageServer.h"

int main(int argc, char **argv) {
  return kvc::editor::languageServerMain(argc, argv);
}
