//===- Arguments.cpp - what stands behind a command -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Arguments.h"

#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using kvc::harness::userError;

namespace kvc::driver {

/// The flag of `command` that is written most like `name`; "" if none is near.
static StringRef nearest(const Command &command, StringRef name) {
  StringRef best;
  unsigned distance = 4;
  for (const Flag &flag : command.flags) {
    const unsigned d = name.edit_distance(flag.name, true, distance);
    if (d < distance) {
      distance = d;
      best = flag.name;
    }
  }
  return best;
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
    const Flag *flag = find_if(command.flags, [&](const Flag &candidate) {
      return candidate.name == name;
    });
    if (flag == command.flags.end()) {
      StringRef near = nearest(command, name);
      return userError("kvc " + command.name + " has no flag '" + name + "'" +
                       (near.empty() ? "; see kvc " + command.name + " --help"
                                     : "; did you mean " + near + "?"));
    }
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
  if (StringRef(found->second).getAsInteger(10, value) || value < least ||
      value > most)
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
    if (word.getAsInteger(10, value) || value < least || value > most)
      return userError("'" + flag + "' is numbers from " + Twine(least) +
                       " to " + Twine(most) + ", as 256,2048, not '" +
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

void printError(Error error) {
  // There may be several, joined.
  handleAllErrors(std::move(error), [](const ErrorInfoBase &one) {
    const std::string text = one.message();
    // What points into a file says itself that it is an error.
    errs() << (StringRef(text).contains("error: ") ? "" : "kvc: error: ")
           << text << "\n";
  });
}

ExitCode fail(Error error, ExitCode code) {
  if (error.isA<OutputError>())
    code = UserError;
  printError(std::move(error));
  return code;
}

} // namespace kvc::driver
