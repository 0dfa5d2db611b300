//===- Measure.cpp - kvc report, kvc eval ---------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace kvc::harness;

namespace kvc::driver {

//===----------------------------------------------------------------------===//
// report
//===----------------------------------------------------------------------===//

/// "100,2000".
static Expected<std::vector<int64_t>> parseLengths(StringRef text) {
  // A sequence may be longer; its plan would say nothing new.
  const int64_t most = INT32_MAX;
  std::vector<int64_t> lengths;
  SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words) {
    int64_t value = 0;
    if (word.trim().getAsInteger(10, value) || value < 0 || value > most)
      return userError("'--tokens' is numbers from 0 to " + Twine(most) +
                       ", with commas between them, not '" + word + "'");
    lengths.push_back(value);
  }
  return lengths;
}

static ExitCode runReport(const Arguments &arguments) {
  if (arguments.operands().empty())
    return fail(userError("kvc report takes specs; see kvc report --help"));
  ReportOptions options;
  options.specs = arguments.operands().vec();
  if (arguments.has("--tokens")) {
    auto lengths = parseLengths(arguments.get("--tokens"));
    if (!lengths)
      return fail(lengths.takeError());
    options.tokens = std::move(*lengths);
  }
  options.target = arguments.get("--target");
  options.json = arguments.has("--json");
  options.plot = arguments.get("--plot");
  if (arguments.has("--plot") && sys::path::extension(options.plot) != ".svg")
    return fail(userError("'--plot' writes SVG: name a file.svg, not '" +
                          options.plot + "'"));
  if (Error error = report(options, outs()))
    return fail(std::move(error));
  return Good;
}

static const Flag reportFlags[] = {
    {"--tokens", "N", "length of the sequence; several with commas: 100,2000",
     "each spec's own, at which every layer stores the most"},
    {"--target", "NAME", "whose pages are counted", "x86-64-v3", targetNames},
    {"--json", "",
     "{spec, tokens, layers: [{codes, scales, residual, sinks, originals,\n"
     "rollback, padding, total}], total, f16, f32}; of several specs or\n"
     "lengths an array of such, spec by spec"},
    {"--plot", "FILE", "bytes against tokens, a line each spec, as SVG",
     "not written"},
};

const Command reportCommand = {
    "report",
    "S... [--tokens N,...] [--target NAME] [--json] [--plot FILE]",
    "what a spec's cache takes, in bytes",
    "The byte plan by layer and in all, as a library's stats give it after N\n"
    "decode steps: total is what pages hold, padding what of it is not used.\n"
    "f16 and f32 are a full cache of every layer in these types, without\n"
    "padding.\n",
    reportFlags,
    runReport};

} // namespace kvc::driver
