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
extern const Command infoCommand;
extern const Command runCommand;
extern const Command verifyCommand;
extern const Command fuzzCommand;
extern const Command evalCommand;
extern const Command benchCommand;
extern const Command schemaCommand;
extern const Command completionsCommand;
extern const Command manCommand;

/// In the order in which help names them.
llvm::ArrayRef<const Command *> allCommands();

/// Every command takes these, and prints its help.
inline constexpr llvm::StringLiteral helpFlags[] = {"--help", "-h"};
inline constexpr Flag helpFlag = {"--help, -h", "", "print this"};

/// What help and the manual page say of the tool as a whole.
inline constexpr llvm::StringLiteral toolSummary = "a compiler for KV caches";
inline constexpr llvm::StringLiteral operandNames =
    "S is a spec (.yaml; - on standard input) or IR (.mlir), LIB a library "
    "that kvc\ncompiled. Numbers may end in k, 1024, or M, 1024 k: --tokens "
    "8k,1M.";
struct ExitMeaning {
  ExitCode code;
  llvm::StringLiteral meaning;
};
inline constexpr ExitMeaning exitMeanings[] = {
    {Good, "all is right"}, {UserError, "your input"}, {OurFault, "our fault"}};
/// What holds without a flag that takes a value: "required", "default: ...".
std::string defaultText(const Flag &flag);

/// The values of --target and of --cpu.
std::vector<std::string> targetNames();
std::vector<std::string> cpuNames();
inline constexpr llvm::StringLiteral targetDefault =
    "x86-64-v3; on machines of Arm aarch64-linux or arm64-apple-macos";
inline constexpr Flag cpuFlag = {
    "--cpu", "NAME",
    "the oldest CPU that a library for arm64-apple-macos is to run on",
    "apple-m1", cpuNames};
/// What both say, as Target::find() takes it; "": neither says anything.
/// `implied` is the target where there is no --target; "": the default.
llvm::Expected<std::string> chooseTarget(const Arguments &arguments,
                                         llvm::StringRef implied = "");

/// The whole tool: `words` are the arguments behind the program's name.
/// LLVM's handlers end the process at a signal, also at one that whoever
/// started it asked to ignore (nohup does): made before InitLLVM, and kept
/// after it.
class IgnoredSignals {
public:
  IgnoredSignals();
  void keep() const;

private:
  llvm::SmallVector<int, 4> numbers;
};

ExitCode runTool(llvm::ArrayRef<const char *> words);

} // namespace kvc::driver

#endif // KVC_COMPILER_DRIVER_COMMANDS_H
