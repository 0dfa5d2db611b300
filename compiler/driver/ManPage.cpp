//===- ManPage.cpp - kvc man ----------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manual page, from the tables that help prints: in the macros of man(7),
// which groff and mandoc read alike.
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using kvc::harness::userError;

namespace kvc::driver {

/// Text as roff prints it: all of ASCII as it is, dashes not as hyphens.
static std::string roff(StringRef text) {
  std::string result;
  // A line that begins so would be a request.
  if (text.starts_with(".") || text.starts_with("'"))
    result = "\\&";
  for (char c : text) {
    switch (c) {
    case '\\':
      result += "\\e";
      break;
    case '-':
      result += "\\-";
      break;
    case '\'':
      result += "\\(aq";
      break;
    case '`':
      result += "\\(ga";
      break;
    case '^':
      result += "\\(ha";
      break;
    case '~':
      result += "\\(ti";
      break;
    case '"':
      result += "\\(dq";
      break;
    default:
      result += c;
    }
  }
  return result;
}

/// Lines are filled; those that are indented stay as they are.
static void printText(StringRef text, raw_ostream &os) {
  SmallVector<StringRef> lines;
  text.rtrim('\n').split(lines, '\n');
  bool asIs = false;
  for (StringRef line : lines) {
    if (line.starts_with(" ") != asIs) {
      os << (asIs ? ".fi\n" : ".nf\n");
      asIs = !asIs;
    }
    os << (line.empty() ? ".PP" : roff(line)) << "\n";
  }
  if (asIs)
    os << ".fi\n";
}

static void printFlag(const Flag &flag, raw_ostream &os) {
  os << ".TP\n\\fB" << roff(flag.name) << "\\fR";
  if (!flag.value.empty())
    os << " \\fI" << roff(flag.value) << "\\fR";
  os << "\n";
  printText(flag.help, os);
  if (!flag.value.empty())
    os << ".br\n" << roff(defaultText(flag)) << "\n";
}

static void printCommand(const Command &command, raw_ostream &os) {
  // The heading of the part is what is typed.
  os << ".SS \"kvc " << roff(command.name) << " " << roff(command.operands)
     << "\"\n";
  os << roff((command.summary.take_front().upper() +
              command.summary.drop_front() + ".")
                 .str())
     << "\n";
  if (!command.details.empty()) {
    os << ".PP\n";
    printText(command.details, os);
  }
  os << ".PP\nfor example:\n.nf\n";
  for (StringRef line : split(command.example, '\n'))
    os << roff(line) << "\n";
  os << ".fi\n";
  for (const Flag &flag : command.flags)
    printFlag(flag, os);
  for (const Flag &flag : commonFlags())
    printFlag(flag, os);
  printFlag(helpFlag, os);
}

static void printPage(raw_ostream &os) {
  os << ".\\\" Made by `kvc man`.\n"
     << ".TH KVC 1 \"\" kvc \"User Commands\"\n"
     << ".SH NAME\nkvc \\- " << roff(toolSummary) << "\n"
     << ".SH SYNOPSIS\n\\fBkvc\\fR \\fICOMMAND\\fR ...\n"
     << ".SH DESCRIPTION\n";
  printText(operandNames, os);
  os << ".SH COMMANDS\n";
  for (const Command *command : allCommands())
    printCommand(*command, os);
  os << ".SH EXIT STATUS\n";
  for (const ExitMeaning &exit : exitMeanings)
    os << ".TP\n" << exit.code << "\n" << roff(exit.meaning) << "\n";
  os << ".SH SEE ALSO\n"
     << "\\fI../share/doc/kvc/README.md\\fR, seen from the program\\(aqs "
        "folder.\n";
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static ExitCode runMan(const Arguments &arguments) {
  if (!arguments.operands().empty())
    return fail(userError("kvc man takes no file; see kvc man --help"));
  if (Error error = writeWhole(arguments.get("-o", "-"), printPage))
    return fail(std::move(error));
  return Good;
}

static const Flag manFlags[] = {
    {"-o", "FILE", "where to; - is standard output", "-"},
};

const Command manCommand = {
    "man",
    "[-o FILE]",
    "print the manual page, which is this help of all commands",
    "cmake --install puts it where man looks for it.\n",
    manFlags,
    runMan,
    "kvc man -o kvc.1 && man ./kvc.1"};

} // namespace kvc::driver
