//===- LanguageServer.h - one language server for specs and IR --*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EDITOR_LANGUAGESERVER_H
#define KVC_COMPILER_EDITOR_LANGUAGESERVER_H

namespace kvc::editor {

/// Serves an editor on standard input and output: .yaml and .yml as specs, all
/// else as MLIR with the kv dialect. The options are those of MLIR's server.
/// Returns the exit status.
int languageServerMain(int argc, char **argv);

} // namespace kvc::editor

#endif // KVC_COMPILER_EDITOR_LANGUAGESERVER_H
