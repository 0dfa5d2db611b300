//===- Completions.cpp - kvc completions ----------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a shell needs to complete a command line of kvc, from the tables that
// parse it.
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using kvc::harness::userError;

namespace kvc::driver {

static StringRef firstLine(StringRef text) { return text.split('\n').first; }

static std::vector<Flag> allFlags(const Command &command) {
  std::vector<Flag> flags(command.flags);
  flags.insert(flags.end(), commonFlags().begin(), commonFlags().end());
  return flags;
}

static std::string commandNames() {
  return join(map_range(allCommands(),
                        [](const Command *command) { return command->name; }),
              " ");
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

/// A command's arm of the case: the values of its flags, then its own words.
static void bashCommand(const Command &command, raw_ostream &os) {
  std::string flags = join(ArrayRef(helpFlags), " ");
  os << "  " << command.name << ")\n    case $before in\n";
  for (const Flag &flag : allFlags(command)) {
    flags += " " + flag.name.str();
    if (flag.value.empty())
      continue;
    // Where there is nothing to choose from, readline completes files.
    os << "    " << flag.name << ")";
    if (flag.choices)
      os << " _kvc_reply \"" << join(flag.choices(), " ") << "\";";
    os << " return ;;\n";
  }
  os << "    esac\n"
     << "    case $word in\n    -*) _kvc_reply \"" << flags << "\" ;;\n";
  if (!command.words.empty())
    os << "    *) _kvc_reply \"" << join(command.words, " ") << "\" ;;\n";
  os << "    esac\n    ;;\n";
}

static void printBash(raw_ostream &os) {
  os << R"(# Completions of kvc for bash, made by `kvc completions bash`.

# Words without spaces; mapfile is not in macOS's bash, 3.2.
_kvc_reply() {
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}

_kvc() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # Bash takes --flag=value apart.
  if [ "$word" = = ]; then
    word=
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [ "$COMP_CWORD" = 1 ]; then
    _kvc_reply ")"
     << commandNames() << " help --version " << join(ArrayRef(helpFlags), " ")
     << R"("
    return
  fi
  if [ "$COMP_CWORD" = 2 ] && [ "${COMP_WORDS[1]}" = help ]; then
    _kvc_reply ")"
     << commandNames() << R"("
    return
  fi
  case ${COMP_WORDS[1]} in
)";
  for (const Command *command : allCommands())
    bashCommand(*command, os);
  os << "  esac\n}\n\ncomplete -o bashdefault -o default -F _kvc kvc\n";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// A description in an argument of _arguments, within single quotes.
static std::string zshText(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (StringRef("[]:\\").contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

static void zshCommand(const Command &command, raw_ostream &os) {
  os << "  " << command.name << ")\n    _arguments \\\n"
     << "      '(- *)'{--help,-h}'[print help]' \\\n";
  for (const Flag &flag : allFlags(command)) {
    os << "      '" << flag.name << "[" << zshText(firstLine(flag.help)) << "]";
    if (flag.choices)
      os << ":" << flag.value << ":(" << join(flag.choices(), " ") << ")";
    else if (!flag.value.empty())
      os << ":" << flag.value << ":_files";
    os << "' \\\n";
  }
  os << "      '*:operand:";
  if (command.words.empty())
    os << "_files'\n";
  else
    os << "(" << join(command.words, " ") << ")'\n";
  os << "    ;;\n";
}

static void printZsh(raw_ostream &os) {
  os << "#compdef kvc\n# Completions of kvc for zsh, made by `kvc completions "
        "zsh`.\n\n_kvc() {\n  local -a commands=(\n";
  for (const Command *command : allCommands())
    os << "    '" << command->name << ":" << zshText(command->summary) << "'\n";
  os << R"(  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
)";
  os << "  help)\n    _arguments '*:command:(" << commandNames()
     << ")'\n    ;;\n";
  for (const Command *command : allCommands())
    zshCommand(*command, os);
  os << "  esac\n}\n\n_kvc \"$@\"\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

static std::string fishText(StringRef text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "'";
}

static void fishCommand(const Command &command, raw_ostream &os) {
  const std::string line =
      ("complete -c kvc -n '__fish_seen_subcommand_from " + command.name + "'")
          .str();
  os << "complete -c kvc -n __fish_use_subcommand -f -a " << command.name
     << " -d " << fishText(command.summary) << "\n";
  os << line << " -s h -l help -f -d 'print help'\n";
  for (const Flag &flag : allFlags(command)) {
    const bool isLong = flag.name.starts_with("--");
    os << line << (isLong ? " -l " : " -s ") << flag.name.ltrim('-');
    if (flag.choices)
      os << " -x -a " << fishText(join(flag.choices(), " "));
    else if (!flag.value.empty())
      os << " -r -F";
    os << " -d " << fishText(firstLine(flag.help)) << "\n";
  }
  if (!command.words.empty())
    os << line << " -f -a " << fishText(join(command.words, " ")) << "\n";
}

static void printFish(raw_ostream &os) {
  os << "# Completions of kvc for fish, made by `kvc completions fish`.\n";
  os << "complete -c kvc -n __fish_use_subcommand -f -a help\n"
     << "complete -c kvc -n __fish_use_subcommand -l version\n"
     << "complete -c kvc -n '__fish_seen_subcommand_from help' -f -a "
     << fishText(commandNames()) << "\n";
  for (const Command *command : allCommands())
    fishCommand(*command, os);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static ExitCode runCompletions(const Arguments &arguments) {
  auto shell = arguments.only();
  if (!shell)
    return fail(userError("kvc completions takes a shell: bash, zsh or fish"));
  using Print = void (*)(raw_ostream &);
  auto print = StringSwitch<Print>(*shell)
                   .Case("bash", printBash)
                   .Case("zsh", printZsh)
                   .Case("fish", printFish)
                   .Default(nullptr);
  if (!print)
    return fail(userError("there are completions for bash, zsh and fish, not "
                          "for '" +
                          *shell + "'"));
  if (Error error = writeWhole(arguments.get("-o", "-"), print))
    return fail(std::move(error));
  return Good;
}

static const Flag completionsFlags[] = {
    {"-o", "FILE", "where to; - is standard output", "-"},
};

static const StringRef shells[] = {"bash", "zsh", "fish"};

const Command completionsCommand = {
    "completions",
    "bash|zsh|fish [-o FILE]",
    "print what a shell needs to complete kvc's command lines",
    "In bash: source <(kvc completions bash). cmake --install puts all three\n"
    "where shells look for them.\n",
    completionsFlags,
    runCompletions,
    "kvc completions fish -o ~/.config/fish/completions/kvc.fish",
    shells};

} // namespace kvc::driver
