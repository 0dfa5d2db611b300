//===- Arguments.h - what stands behind a command ---------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_DRIVER_ARGUMENTS_H
#define KVC_COMPILER_DRIVER_ARGUMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvc::driver {

/// What a run of the tool ends with.
enum ExitCode { Good = 0, UserError = 1, OurFault = 2 };

/// One flag: "--name VALUE" or "--name=VALUE"; without a value, a switch.
struct Flag {
  llvm::StringRef name;  ///< with its dashes
  llvm::StringRef value; ///< what help calls the value; "": a switch
  llvm::StringRef help;
  /// What holds without it, or "required"; "": a switch, which is off.
  llvm::StringRef otherwise = "";
  /// All that the value may be, where they can be named.
  std::vector<std::string> (*choices)() = nullptr;
};

class Arguments;

struct Command {
  llvm::StringRef name;
  llvm::StringRef operands; ///< as help shows them
  llvm::StringRef summary;  ///< a line
  llvm::StringRef details;  ///< more lines for its own help
  llvm::ArrayRef<Flag> flags;
  ExitCode (*run)(const Arguments &arguments);
  llvm::StringRef example; ///< lines that can be typed as they are
  /// All that an operand may be; where there are none, operands are files.
  llvm::ArrayRef<llvm::StringRef> words = {};
};

/// The flags that every command takes beside its own and helpFlags.
llvm::ArrayRef<Flag> commonFlags();

/// The one of `names` that `name` is most likely a slip of; "" if none is near.
llvm::StringRef nearest(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringRef> names);

/// Reads 4096, or 4k or 1M: k is 1024, M is 1024 * 1024. True on an error, as
/// of StringRef::getAsInteger.
bool parseNumber(llvm::StringRef word, int64_t &value);

/// A command line, taken apart. Values are copies: lld forgets the options of
/// whoever calls it, so nothing here is an option of LLVM's.
class Arguments {
public:
  /// Errors name the flag and what is near it.
  static llvm::Expected<Arguments> parse(const Command &command,
                                         llvm::ArrayRef<const char *> words);

  llvm::ArrayRef<std::string> operands() const { return rest; }
  bool has(llvm::StringRef flag) const { return values.count(flag) != 0; }
  /// "" where the flag is not there.
  std::string get(llvm::StringRef flag, llvm::StringRef otherwise = "") const;
  llvm::Expected<int64_t> getInteger(llvm::StringRef flag, int64_t otherwise,
                                     int64_t least, int64_t most) const;
  /// Numbers parted by commas, each once, ascending. All numbers are as
  /// parseNumber() reads them.
  llvm::Expected<std::vector<int64_t>>
  getIntegers(llvm::StringRef flag, std::vector<int64_t> otherwise,
              int64_t least, int64_t most) const;
  /// The one operand; an error that names the command where there is another
  /// number of them.
  llvm::Expected<std::string> only() const;

private:
  std::string command;
  std::vector<std::string> rest;
  llvm::StringMap<std::string> values;
};

/// Whether errors are coloured: `when` is auto, always or never. With auto,
/// which holds until it is called, on a terminal where NO_COLOR is not set.
void colourErrors(llvm::StringRef when);
/// Prints `error` to standard error.
void printError(llvm::Error error);
/// Prints `error` and gives `code`.
ExitCode fail(llvm::Error error, ExitCode code = UserError);

} // namespace kvc::driver

#endif // KVC_COMPILER_DRIVER_ARGUMENTS_H
