//===- Trial.cpp - kvc run, kvc verify, kvc fuzz --------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Fuzz.h"
#include "compiler/harness/Run.h"
#include "compiler/harness/Verify.h"

using namespace llvm;
using namespace kvc::harness;

namespace kvc::driver {

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

static ExitCode runRun(const Arguments &arguments) {
  auto library = arguments.only();
  if (!library)
    return fail(library.takeError());
  for (StringRef flag : {"--trace", "-o"})
    if (!arguments.has(flag))
      return fail(userError("kvc run needs " + flag + "; see kvc run --help"));
  auto first = arguments.getInteger("--first", 0, 0, int64_t{1} << 40);
  if (!first)
    return fail(first.takeError());
  RunOptions options;
  options.library = *library;
  options.trace = arguments.get("--trace");
  options.output = arguments.get("-o");
  options.dumpCache = arguments.get("--dump-cache");
  options.stats = arguments.get("--stats");
  auto prefill = arguments.getInteger("--prefill", 0, 0, INT64_MAX);
  if (!prefill)
    return fail(prefill.takeError());
  auto chunk = arguments.getInteger("--chunk", 0, 1, INT64_MAX);
  if (!chunk)
    return fail(chunk.takeError());
  if (arguments.has("--chunk") && !arguments.has("--prefill"))
    return fail(userError("--chunk says how a prefill is cut: give --prefill "
                          "too, or leave it out"));
  options.runner = arguments.get("--runner");
  options.first = *first;
  options.prefill = *prefill;
  options.chunk = *chunk;
  if (Error error = runTrace(options))
    return fail(std::move(error));
  return Good;
}

static const Flag runnerFlag = {
    "--runner", "COMMAND",
    "loads the library in a process of COMMAND, whose last word is a\n"
    "kvc-remote. What this machine cannot load is run so in any case:\n"
    "under qemu-aarch64, one for macOS by a loader of kvc's own; or by\n"
    "what KVC_RUNNER in the environment says",
    "none, where this machine can load the library"};

static const Flag runFlags[] = {
    {"--trace", "FILE",
     "safetensors (F32, F16, BF16): layers.{i}.q|k|v, each\n"
     "[tokens, heads, dim], before rotation; a reader needs q alone;\n"
     "layers.{i}.sinks, [heads], where a layer has learned sinks",
     "required"},
    {"-o", "FILE", "layers.{i}.out and layers.{i}.lse, F32", "required"},
    {"--dump-cache", "FILE",
     "what is stored at the end: layers.{i}.keys|values, F32\n"
     "[kv_heads, stored, dim], and layers.{i}.positions, I64",
     "not written"},
    {"--stats", "FILE", "tokens and bytes of each layer, as JSON",
     "not written"},
    {"--first", "N", "position of the first token", "0"},
    {"--prefill", "N", "take the first N tokens by prefill", "0"},
    {"--chunk", "C", "so many tokens a prefill", "as many as the spec allows"},
    runnerFlag,
};

const Command runCommand = {
    "run",
    "LIB --trace FILE -o FILE",
    "replay a recorded trace through a library",
    "Decodes token by token, behind what --prefill "
    "takes.\n",
    runFlags,
    runRun,
    "kvc run decode.so --trace recorded.safetensors -o out.safetensors"};

//===----------------------------------------------------------------------===//
// verify
//===----------------------------------------------------------------------===//

static ExitCode result(Expected<bool> right, bool ourFault) {
  if (!right)
    return fail(right.takeError(), ourFault ? OurFault : UserError);
  return *right ? Good : UserError;
}

static ExitCode runVerify(const Arguments &arguments) {
  VerifyOptions options;
  options.against = arguments.get("--spec");
  options.trace = arguments.get("--trace");
  auto target = chooseTarget(arguments);
  if (!target)
    return fail(target.takeError());
  options.target = *target;
  options.runner = arguments.get("--runner");
  bool ourFault = false;
  if (arguments.has("--summary")) {
    if (arguments.has("--json"))
      return fail(userError("--json is of one S, without --summary; kvc eval "
                            "--json has errors and bytes of many"));
    if (arguments.operands().empty() || options.trace.empty())
      return fail(userError("kvc verify --summary takes specs and --trace"));
    auto right = summarize(arguments.operands(), options, ourFault, outs());
    return result(std::move(right), ourFault);
  }
  auto subject = arguments.only();
  if (!subject)
    return fail(subject.takeError());
  options.subject = *subject;
  auto opened = openSubject(options, ourFault);
  if (!opened)
    return fail(opened.takeError(), ourFault ? OurFault : UserError);
  auto found = verify(*opened, options.trace, outs(), arguments.has("--json"));
  if (!found)
    return fail(found.takeError());
  return found->right() ? Good : UserError;
}

static const Flag verifyFlags[] = {
    {"--trace", "FILE", "also on this recorded input, as kvc run takes it",
     "made input alone"},
    {"--spec", "S", "hold it against this spec or IR", "its own"},
    {"--target", "NAME", "what a spec is compiled for", targetDefault,
     targetNames},
    cpuFlag,
    runnerFlag,
    {"--summary", "",
     "of each S a line: its policy, tokens, the largest error, bytes\n"
     "against f16, time a token; on the trace alone"},
    {"--json", "",
     "{name, target, layers, kernels, right, inputs: [{input, tokens, rows,\n"
     "stored, out, lse, error, misses}]}; not with --summary"},
};

const Command verifyCommand = {
    "verify",
    "LIB|S [--trace FILE] [--spec S]",
    "hold a library against the reference",
    "What is stored is compared bit for bit, outputs with fp64 attention over\n"
    "it, on random, border, adversarial and recorded input; then calls in any\n"
    "order, and truncate, fork, save, load and reset. Prints, for each of\n"
    "these, the largest errors as fractions of what is allowed, and where it\n"
    "misses, then a line with the verdict; exit code 1 on a miss.\n",
    verifyFlags,
    runVerify,
    "kvc verify decode.so --trace recorded.safetensors"};

//===----------------------------------------------------------------------===//
// fuzz
//===----------------------------------------------------------------------===//

static ExitCode runFuzz(const Arguments &arguments) {
  if (!arguments.operands().empty())
    return fail(userError("kvc fuzz takes no file; see kvc fuzz --help"));
  const int64_t most = int64_t{1} << 40;
  FuzzOptions options;
  auto seed = arguments.getInteger("--seed", 1, 0, INT64_MAX);
  if (!seed)
    return fail(seed.takeError());
  auto count = arguments.getInteger("--count", options.count, 1, most);
  if (!count)
    return fail(count.takeError());
  auto skip = arguments.getInteger("--skip", 0, 0, most);
  if (!skip)
    return fail(skip.takeError());
  options.seed = static_cast<uint64_t>(*seed);
  options.count = *count;
  options.skip = *skip;
  options.show = arguments.has("--show");
  options.cells = arguments.has("--cells");
  auto target = chooseTarget(arguments);
  if (!target)
    return fail(target.takeError());
  options.target = *target;
  options.runner = arguments.get("--runner");
  return fuzz(options, outs()) ? Good : UserError;
}

static const Flag fuzzFlags[] = {
    {"--seed", "S", "the same seed makes the same cases", "1"},
    {"--count", "N", "how many", "100"},
    {"--skip", "K", "begin with case K", "0"},
    {"--show", "", "print each case's spec"},
    {"--cells", "",
     "print each combination and operation with how often it was met"},
    {"--target", "NAME", "what is compiled for", targetDefault, targetNames},
    cpuFlag,
    runnerFlag,
};

const Command fuzzCommand = {
    "fuzz",
    "--seed S --count N",
    "random specs, calls and operations against the reference",
    "Plays sequences of tokens, in between truncate, fork, save, load and\n"
    "reset. Prints each failure with its spec and the command that makes it\n"
    "again, stops at five, and prints how many combinations of kinds of keys,\n"
    "values, time, position and depth were met, how many operations, and last\n"
    "the verdict. Exit code 1 on a failure.\n",
    fuzzFlags,
    runFuzz,
    "kvc fuzz --seed 7 --count 20"};

} // namespace kvc::driver
