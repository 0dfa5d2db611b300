//===- Tool.cpp - commands and their help ---------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "compiler/target/GpuTarget.h"
#include "compiler/target/Target.h"
#include "kvc/kvc.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace llvm;
using kvc::harness::userError;

namespace kvc::driver {

ArrayRef<const Command *> allCommands() {
  static const Command *const commands[] = {
      &compileCommand, &checkCommand,  &infoCommand,        &reportCommand,
      &runCommand,     &verifyCommand, &fuzzCommand,        &evalCommand,
      &benchCommand,   &schemaCommand, &completionsCommand, &manCommand};
  return commands;
}

/// Named in the tool's description and not there yet.
static bool comesLater(StringRef name) {
  static const StringRef later[] = {"import"};
  return is_contained(later, name);
}

static void printHelp(raw_ostream &os) {
  os << "kvc: " << toolSummary << "\n\n"
     << "usage: kvc COMMAND ... (kvc help COMMAND says more)\n"
        "       kvc --version\n\n";
  for (const Command *command : allCommands()) {
    os << "  " << command->name;
    os.indent(static_cast<unsigned>(13 - command->name.size()))
        << command->summary << "\n";
  }
  os << "\n" << operandNames << "\nExit codes: ";
  interleave(
      exitMeanings, os,
      [&](const ExitMeaning &exit) { os << exit.code << " " << exit.meaning; },
      ", ");
  os << ".\n";
}

std::string defaultText(const Flag &flag) {
  return flag.otherwise == "required" ? "required"
                                      : ("default: " + flag.otherwise).str();
}

static void printHelp(const Command &command, raw_ostream &os) {
  os << "kvc " << command.name << ": " << command.summary << "\n\n"
     << "usage: kvc " << command.name << " " << command.operands << "\n\n"
     << command.details;
  if (!command.details.empty())
    os << "\n";
  os << "for example:\n";
  for (StringRef line : split(command.example, '\n'))
    os << "  " << line << "\n";
  os << "\n";
  SmallVector<Flag> flags(command.flags);
  flags.append(commonFlags().begin(), commonFlags().end());
  flags.push_back(helpFlag);
  SmallVector<std::string> heads;
  size_t width = 0;
  for (const Flag &flag : flags) {
    heads.push_back(
        (flag.name + (flag.value.empty() ? "" : " ") + flag.value).str());
    width = std::max(width, heads.back().size());
  }
  for (auto [flag, head] : zip(flags, heads)) {
    os << "  " << head;
    os.indent(static_cast<unsigned>(width - head.size() + 2));
    // Further lines of a help begin below the first.
    SmallVector<StringRef> lines;
    flag.help.split(lines, '\n');
    const std::string otherwise = defaultText(flag);
    if (!flag.value.empty())
      lines.push_back(otherwise);
    os << lines.front() << "\n";
    for (StringRef line : ArrayRef(lines).drop_front())
      os.indent(static_cast<unsigned>(width + 4)) << line << "\n";
  }
}

static bool isHelp(StringRef word) { return is_contained(helpFlags, word); }

static void printVersion(raw_ostream &os) {
  os << "kvc " KVC_PROJECT_VERSION ", LLVM " LLVM_VERSION_STRING
     << ", C interface " << KVC_ABI_VERSION
     << "\ntargets: " << join(Target::names(), ", ")
     << "\nGPU: " << join(GpuTarget::names(), ", ") << "\n";
}

static const Command *findCommand(StringRef name) {
  for (const Command *command : allCommands())
    if (command->name == name)
      return command;
  return nullptr;
}

static ExitCode noCommand(StringRef name) {
  if (comesLater(name))
    return fail(userError("kvc " + name + " is not there yet"));
  std::vector<StringRef> names = {"help", "--help", "--version"};
  for (const Command *command : allCommands())
    names.push_back(command->name);
  StringRef near = nearest(name, names);
  return fail(userError("kvc has no command '" + name + "'" +
                        (near.empty() ? Twine("; see kvc --help")
                                      : "; did you mean " + near + "?")));
}

/// Of a command, or of the tool where none is named.
static ExitCode help(ArrayRef<const char *> words) {
  if (words.empty()) {
    printHelp(outs());
    return Good;
  }
  const Command *command = findCommand(words.front());
  if (!command)
    return noCommand(words.front());
  printHelp(*command, outs());
  return Good;
}

static ExitCode runNamed(const Command &command, ArrayRef<const char *> words) {
  if (any_of(words, isHelp)) {
    printHelp(command, outs());
    return Good;
  }
  auto arguments = Arguments::parse(command, words);
  if (!arguments)
    return fail(arguments.takeError());
  const std::string when = arguments->get("--color", "auto");
  const std::vector<std::string> all = commonFlags().front().choices();
  if (!is_contained(all, when))
    return fail(userError("'--color' is one of " + join(all, ", ") + ", not '" +
                          when + "'"));
  colourErrors(when);
  return command.run(*arguments);
}

static ExitCode runWords(ArrayRef<const char *> words) {
  if (words.empty()) {
    printHelp(errs());
    return UserError;
  }
  StringRef name = words.front();
  words = words.drop_front();
  if (isHelp(name) || name == "help")
    return help(words);
  if (name == "--version") {
    printVersion(outs());
    return Good;
  }
  const Command *command = findCommand(name);
  return command ? runNamed(*command, words) : noCommand(name);
}

IgnoredSignals::IgnoredSignals() {
  for (int number : {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR2}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      numbers.push_back(number);
  }
}

void IgnoredSignals::keep() const {
  for (int number : numbers)
    std::signal(number, SIG_IGN);
}

ExitCode runTool(ArrayRef<const char *> words) {
  // A file that may not grow further is an error of its write.
  std::signal(SIGXFSZ, SIG_IGN);
  ExitCode code = runWords(words);
  if (Error error = flushStandardOutput()) {
    printError(std::move(error));
    code = std::max(code, UserError);
  }
  // Nobody is left to be told that nobody reads this.
  errs().clear_error();
  return code;
}

} // namespace kvc::driver
