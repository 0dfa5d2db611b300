//===- Bench.cpp - kvc bench ----------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Bench.h"

#include "compiler/driver/Commands.h"
#include "compiler/harness/Files.h"

using namespace llvm;
using namespace kvc::harness;

namespace kvc::driver {

static ExitCode runBench(const Arguments &arguments) {
  BenchOptions options;
  options.subjects.assign(arguments.operands().begin(),
                          arguments.operands().end());
  if (options.subjects.empty())
    return fail(userError("kvc bench takes libraries or specs; see kvc bench "
                          "--help"));
  auto target = chooseTarget(arguments);
  if (!target)
    return fail(target.takeError());
  options.target = *target;
  auto tokens = arguments.getIntegers("--tokens", {}, 1, int64_t{1} << 40);
  if (!tokens)
    return fail(tokens.takeError());
  auto threads = arguments.getIntegers("--threads", options.threads, 1, 256);
  if (!threads)
    return fail(threads.takeError());
  auto rounds = arguments.getInteger("--reps", options.rounds, 1, 1'000'000);
  if (!rounds)
    return fail(rounds.takeError());
  if (arguments.has("--walk")) {
    auto walk = arguments.getInteger("--walk", 0, 0, 1'000'000);
    if (!walk)
      return fail(walk.takeError());
    options.walk = *walk * 1'000'000;
  }
  options.tokens = std::move(*tokens);
  options.threads = std::move(*threads);
  options.rounds = *rounds;
  options.interleave = arguments.has("--interleave");
  bool ourFault = false;
  auto result = bench(options, ourFault);
  if (!result)
    return fail(result.takeError(), ourFault ? OurFault : UserError);
  if (arguments.has("--json"))
    printJson(*result, outs());
  else
    printTable(*result, outs());
  return Good;
}

static const Flag benchFlags[] = {
    {"--tokens", "LIST",
     "lengths of the sequence, as 256,2k: steps are timed up to each",
     "256,2048,8192, up to a spec's context, or where it stores no more"},
    {"--threads", "LIST", "threads of a step, as 1,2; each is measured", "1"},
    {"--reps", "N", "rounds; medians are printed", "21"},
    {"--walk", "MB",
     "a round walks through as many sequences of a library as hold so\n"
     "many megabytes, 1024 at the most; 0: one, and what the processor's\n"
     "cache keeps of it stays there",
     "twice the last-level cache: it keeps nothing, as in a model"},
    {"--interleave", "",
     "all lengths take turns in each round, so that times at different\n"
     "lengths can be compared: ratio is to the same library's at its\n"
     "first length. Takes memory for all of them"},
    {"--target", "NAME", "what a spec is compiled for", targetDefault,
     targetNames},
    cpuFlag,
    {"--json", "", "seconds, bytes and tokens as JSON"},
};

const Command benchCommand = {
    "bench",
    "LIB|S... [--tokens LIST] [--threads LIST]",
    "what a token costs: time, bytes, share of the memory's bandwidth",
    "Times whole decode steps, all layers, of random input. All libraries "
    "take\n"
    "turns in each round, between reads of memory by as many threads:\n"
    "  us a token  of all layers; spread: from the 10th to the 90th "
    "percentile\n"
    "  ns attend   for each token that a layer attends to\n"
    "  MB a token  of cache read: codes, scales, residual, sinks, originals\n"
    "  of read     GB/s of them, as a share of the memory read in the same "
    "round\n"
    "  ratio       of its time to the first row's of its length, formed in "
    "each\n"
    "              round; see --interleave\n"
    "Machines are noisy: compare what was printed by one run.\n",
    benchFlags,
    runBench,
    "kvc bench f16.yaml int4.yaml --tokens 2k,8k"};

} // namespace kvc::driver
