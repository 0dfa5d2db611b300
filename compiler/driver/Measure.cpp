//===- Measure.cpp - kvc report, kvc eval ---------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/harness/Eval.h"
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
    if (parseNumber(word.trim(), value) || value < 0 || value > most)
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
  auto target = chooseTarget(arguments);
  if (!target)
    return fail(target.takeError());
  options.target = *target;
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
    {"--tokens", "N", "length of the sequence; several with commas: 8k,128k",
     "each spec's context; where all layers have windows, the power of 2 from\n"
     "16 times the longest on"},
    {"--target", "NAME", "whose pages are counted", targetDefault, targetNames},
    cpuFlag,
    {"--json", "",
     "an array, spec by spec and length by length, of {spec, tokens, layers:\n"
     "[{codes, scales, residual, sinks, originals, rollback, padding,\n"
     "total}], total, f16, f32}"},
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
    "padding; in the table, of f16 and of f32 are the bytes in use as a share\n"
    "of it, without padding too.\n",
    reportFlags,
    runReport,
    "kvc report spec.yaml other.yaml --tokens 8k,128k --plot bytes.svg"};

//===----------------------------------------------------------------------===//
// eval
//===----------------------------------------------------------------------===//

static ExitCode runEval(const Arguments &arguments) {
  if (arguments.operands().empty())
    return fail(userError("kvc eval takes specs; see kvc eval --help"));
  if (!arguments.has("--trace"))
    return fail(userError("kvc eval needs --trace; see kvc eval --help"));
  EvalOptions options;
  options.specs = arguments.operands().vec();
  options.trace = arguments.get("--trace");
  auto target = chooseTarget(arguments);
  if (!target)
    return fail(target.takeError());
  options.target = *target;
  options.runner = arguments.get("--runner");
  options.json = arguments.has("--json");
  bool ourFault = false;
  if (Error error = evaluate(options, ourFault, outs()))
    return fail(std::move(error), ourFault ? OurFault : UserError);
  return Good;
}

static const Flag evalFlags[] = {
    {"--trace", "FILE", "recorded input, as kvc run takes it", "required"},
    {"--target", "NAME", "what is compiled for", targetDefault, targetNames},
    cpuFlag,
    {"--runner", "COMMAND", "loads the libraries elsewhere, as of kvc run",
     "none, where this machine can load the library"},
    {"--json", "",
     "an array, spec by spec, of {spec, tokens, layers: [{error, worst,\n"
     "worst_position, bytes}], error, bytes, f16, bits}"},
};

const Command evalCommand = {
    "eval",
    "S... --trace FILE [--json]",
    "what a spec costs in fidelity",
    "Runs the trace through each spec's library and through a full cache of\n"
    "the same model, unquantised, in fp64. For each layer the error is\n"
    "|out - full| / |full| over all rows and heads (|x|: the root of the sum\n"
    "of squares), for the worst row the same of one token; the error of all\n"
    "layers is their root mean square. Bytes are those in use at the end, and\n"
    "bits how many of them there are for each stored number of K and V.\n",
    evalFlags,
    runEval,
    "kvc eval spec.yaml other.yaml --trace recorded.safetensors"};

} // namespace kvc::driver
