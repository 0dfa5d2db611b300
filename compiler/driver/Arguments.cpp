//===- Arguments.cpp - what stands behind a command -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Arguments.h"

#include "compiler/driver/Commands.h"
#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <optional>

using namespace llvm;
using kvc::harness::userError;

namespace kvc::driver {

StringRef nearest(StringRef name, ArrayRef<StringRef> names) {
  StringRef best;
  // A third of the letters may be wrong; more is another word.
  auto distance = static_cast<unsigned>(name.size() / 3 + 1);
  for (StringRef candidate : names) {
    // Dashes are easily right.
    const unsigned d =
        name.ltrim('-').edit_distance(candidate.ltrim('-'), true, distance);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

bool parseNumber(StringRef word, int64_t &value) {
  int64_t unit = 1;
  if (word.consume_back("k") || word.consume_back("K"))
    unit = int64_t{1} << 10;
  else if (word.consume_back("M"))
    unit = int64_t{1} << 20;
  return word.getAsInteger(10, value) || MulOverflow(value, unit, value);
}

static std::vector<std::string> whenNames() {
  return {"auto", "always", "never"};
}

ArrayRef<Flag> commonFlags() {
  static const Flag flags[] = {
      {"--color", "WHEN",
       "colour errors: auto (on a terminal, unless NO_COLOR is set),\n"
       "always or never",
       "auto", whenNames}};
  return flags;
}

static const Flag *findFlag(const Command &command, StringRef name) {
  for (ArrayRef<Flag> flags : {command.flags, commonFlags()})
    for (const Flag &flag : flags)
      if (flag.name == name)
        return &flag;
  return nullptr;
}

static Error noFlag(const Command &command, StringRef name) {
  std::vector<StringRef> names(std::begin(helpFlags), std::end(helpFlags));
  for (ArrayRef<Flag> flags : {command.flags, commonFlags()})
    for (const Flag &flag : flags)
      names.push_back(flag.name);
  StringRef near = nearest(name, names);
  return userError("kvc " + command.name + " has no flag '" + name + "'" +
                   (near.empty() ? "; see kvc " + command.name + " --help"
                                 : "; did you mean " + near + "?"));
}

Expected<Arguments> Arguments::parse(const Command &command,
                                     ArrayRef<const char *> words) {
  Arguments arguments;
  arguments.command = command.name.str();
  bool flags = true;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    // "-" is standard output; after "--" all is operands.
    if (!flags || word == "-" || !word.starts_with("-")) {
      arguments.rest.push_back(word.str());
      continue;
    }
    if (word == "--") {
      flags = false;
      continue;
    }
    auto [name, value] = word.split('=');
    const bool joined = word.contains('=');
    const Flag *flag = findFlag(command, name);
    if (!flag)
      return noFlag(command, name);
    if (flag->value.empty()) {
      if (joined)
        return userError("'" + name + "' takes no value");
    } else if (!joined) {
      if (i + 1 == words.size())
        return userError("'" + name + "' lacks its " + flag->value);
      value = words[++i];
    }
    if (!arguments.values.try_emplace(name, value.str()).second)
      return userError("'" + name + "' is there twice");
  }
  return arguments;
}

std::string Arguments::get(StringRef flag, StringRef otherwise) const {
  auto found = values.find(flag);
  return found == values.end() ? otherwise.str() : found->second;
}

Expected<int64_t> Arguments::getInteger(StringRef flag, int64_t otherwise,
                                        int64_t least, int64_t most) const {
  auto found = values.find(flag);
  if (found == values.end())
    return otherwise;
  int64_t value = 0;
  if (parseNumber(found->second, value) || value < least || value > most)
    return userError("'" + flag + "' is a number from " + Twine(least) +
                     " to " + Twine(most) + ", not '" + found->second + "'");
  return value;
}

Expected<std::vector<int64_t>>
Arguments::getIntegers(StringRef flag, std::vector<int64_t> otherwise,
                       int64_t least, int64_t most) const {
  auto found = values.find(flag);
  if (found == values.end())
    return otherwise;
  std::vector<int64_t> numbers;
  for (StringRef word : split(found->second, ',')) {
    int64_t value = 0;
    if (parseNumber(word, value) || value < least || value > most)
      return userError("'" + flag + "' is numbers from " + Twine(least) +
                       " to " + Twine(most) + ", as 256,2k, not '" +
                       found->second + "'");
    numbers.push_back(value);
  }
  sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}

Expected<std::string> Arguments::only() const {
  if (rest.size() == 1)
    return rest.front();
  return userError("kvc " + command + " takes one file, not " +
                   Twine(rest.size()) + "; see kvc " + command + " --help");
}

static bool onTerminal() {
  const char *no = std::getenv("NO_COLOR");
  return (!no || !*no) && sys::Process::StandardErrHasColors();
}

static std::optional<bool> coloured; ///< not chosen: onTerminal()

void colourErrors(StringRef when) {
  if (when != "auto")
    coloured = when == "always";
}

/// A line of a diagnostic as clang colours it: "place: error: message", or the
/// caret below a line of the source.
static void printColoured(StringRef line, raw_ostream &os) {
  const size_t at = line.find("error: ");
  if (line.trim(" \t") == "^") {
    os.changeColor(raw_ostream::GREEN, /*Bold=*/true) << line;
  } else if (at != StringRef::npos &&
             (at == 0 || line.take_front(at).ends_with(": "))) {
    os.changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true)
        << line.take_front(at);
    os.changeColor(raw_ostream::RED, /*Bold=*/true) << "error: ";
    os.resetColor();
    os.changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true)
        << line.drop_front(at + strlen("error: "));
  } else {
    os << line;
    return;
  }
  os.resetColor();
}

static void printText(StringRef text) {
  raw_ostream &os = errs();
  if (!coloured.value_or(onTerminal())) {
    os << text << "\n";
    return;
  }
  os.enable_colors(true);
  for (StringRef line : split(text, '\n')) {
    printColoured(line, os);
    os << "\n";
  }
}

void printError(Error error) {
  // There may be several, joined.
  handleAllErrors(std::move(error), [](const ErrorInfoBase &one) {
    const std::string text = one.message();
    // What points into a file says itself that it is an error.
    printText((StringRef(text).contains("error: ") ? "" : "kvc: error: ") +
              text);
  });
}

ExitCode fail(Error error, ExitCode code) {
  if (error.isA<OutputError>())
    code = UserError;
  printError(std::move(error));
  return code;
}

} // namespace kvc::driver
