//===- Commands.h - what the tool can do ------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_DRIVER_COMMANDS_H
#define KVC_COMPILER_DRIVER_COMMANDS_H

#include "compiler/driver/Arguments.h"

namespace kvc::driver {

extern const Command compileCommand;
extern const Command checkCommand;
extern const Command reportCommand;
extern const Command runCommand;
extern const Command verifyCommand;
extern const Command fuzzCommand;
extern const Command evalCommand;
extern const Command benchCommand;
extern const Command schemaCommand;
extern const Command completionsCommand;

/// In the order in which help names them.
llvm::ArrayRef<const Command *> allCommands();

/// Every command takes these, and prints its help.
inline constexpr llvm::StringLiteral helpFlags[] = {"--help", "-h"};

/// The values of --target.
std::vector<std::string> targetNames();

/// The whole tool: `words` are the arguments behind the program's name.
ExitCode runTool(llvm::ArrayRef<const char *> words);

} // namespace kvc::driver

#endif // KVC_COMPILER_DRIVER_COMMANDS_H
