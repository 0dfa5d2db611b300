//===- Fuzz.cpp - kvc fuzz: random specs against the reference ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Fuzz.h"

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Coverage.h"
#include "compiler/harness/Crash.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Play.h"
#include "compiler/harness/Progress.h"
#include "compiler/harness/RandomModel.h"
#include "compiler/harness/Together.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace llvm;

namespace kvc::harness {

/// Plays one case; counts its spec once it compiles and runs.
static Expected<std::string> playCase(const FuzzOptions &options,
                                      int64_t number, StringRef text,
                                      Coverage &coverage, Worst &worst) {
  auto model = Model::fromSpec(text, formatv("case {0}", number).str(),
                               /*threads=*/false);
  if (!model)
    return model.takeError();
  CompileOptions compile;
  compile.target = options.target;
  auto library = openCompiled(**model, compile, options.runner);
  if (!library)
    return library.takeError();
  CallSettings settings;
  const uint64_t seed = Random::mix(~options.seed, number);
  Random random(seed);
  const int64_t first =
      random.oneIn(2)
          ? 0
          : random.pick({1, 77, 4096, 100'000'000, int64_t{1} << 40});
  auto comparison = Comparison::create(*library, (*model)->module(), first,
                                       makeSinks(seed, library->layers()));
  if (!comparison)
    return comparison.takeError();
  coverage.count(*(*model)->getSpec());
  Play play(std::move(*comparison), *library, random.next());
  std::string miss = play.runOperations();
  if (miss.empty())
    miss = compareTogether(*library, random.next());
  coverage.count(play.met());
  worst.join(play.worst());
  return miss;
}

bool fuzz(const FuzzOptions &options, raw_ostream &os) {
  Progress progress;
  Coverage coverage;
  Worst worst;
  int64_t failures = 0, number = options.skip;
  for (; number < options.skip + options.count && failures < options.failures;
       ++number) {
    progress.show("case " + Twine(number - options.skip) + " of " +
                  Twine(options.count));
    std::string again = formatv("kvc fuzz --seed {0} --skip {1} --count 1",
                                options.seed, number);
    if (!options.target.empty())
      again += " --target " + options.target;
    // Where the compiler crashes, this says which; where what it made does,
    // the trial.
    PrettyStackTraceString trace(again.c_str());
    const std::string text = makeRandomSpec(options.seed, number);
    if (options.show)
      os << "# " << again << "\n" << text << "\n";
    Trial trial(formatv("failure: {0}\n{1}", again, text), os);
    auto result = playCase(options, number, text, coverage, worst);
    std::string miss = result ? *result : toString(result.takeError());
    if (miss.empty())
      continue;
    ++failures;
    progress.clear();
    os << formatv("failure: {0}\n{1}{2}\n\n", again, text, miss);
  }
  progress.clear();
  coverage.print(os, options.cells);
  const int64_t cases = number - options.skip;
  if (failures == 0)
    os << formatv("right: {0} cases, 0 failures, {1} outputs, worst {2:f2} of "
                  "what is allowed\n",
                  cases, worst.rows, std::max(worst.out, worst.lse));
  else
    os << formatv("WRONG: {0} cases, {1} failures\n", cases, failures);
  return failures == 0;
}

} // namespace kvc::harness
