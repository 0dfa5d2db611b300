//===- Fuzz.cpp - kvc fuzz: random specs against the reference ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Fuzz.h"

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Coverage.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Progress.h"
#include "compiler/harness/RandomModel.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace llvm;

namespace kvc::harness {

// Products of query and key that one case may take the reference.
static constexpr double budget = 3e7;

namespace {

/// Random steps of one library.
class Play {
public:
  Play(Comparison &comparison, const LoadedLibrary &library, uint64_t seed);

  /// "" where all was right.
  std::string run();

private:
  int64_t chooseLength();
  int64_t limitOf(int64_t layer) const;
  TokenInput input(int64_t layer, int64_t token);
  bool playLayer(int64_t layer, int64_t token);

  Comparison &comparison;
  const LoadedLibrary &library;
  const reference::Reference &model;
  Random random;
  uint64_t seed;
  InputKind kind;
  bool mixed; ///< each token has a kind of its own
  int64_t length, stride = 1;
};

} // namespace

static InputKind randomKind(Random &random) {
  // Half of the time what models look like, else any.
  if (random.oneIn(2))
    return random.oneIn(2) ? InputKind::Gaussian : InputKind::Outliers;
  return allInputKinds()[random.below(
      static_cast<int64_t>(allInputKinds().size()))];
}

Play::Play(Comparison &comparison, const LoadedLibrary &library, uint64_t seed)
    : comparison(comparison), library(library), model(comparison.reference()),
      random(seed), seed(seed), kind(randomKind(random)),
      mixed(random.oneIn(4)), length(chooseLength()) {}

int64_t Play::limitOf(int64_t layer) const {
  return model.policy(layer).getTime().getLimit().value_or(length);
}

/// Past the borders of the layer that has them farthest away.
int64_t Play::chooseLength() {
  int64_t most = 1;
  double cost = 0;
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    kv::PolicyAttr policy = model.policy(layer);
    kv::ShapeAttr shape = model.shape(layer);
    int64_t originals = std::max(policy.getKeys().mostOriginals(),
                                 policy.getValues().mostOriginals());
    int64_t wanted = policy.getTime().getSinks() +
                     policy.getTime().getCapacity() + 2 * originals + 5;
    most = std::max(most, std::min<int64_t>(wanted, 400));
    cost += static_cast<double>(shape.getHeads()) *
            static_cast<double>(shape.getHeadDim() + shape.getValueDim());
  }
  const int64_t chosen = random.oneIn(4) ? random.between(1, most) : most;
  // A step attends to about as many tokens as there are steps, or fewer.
  cost *= static_cast<double>(chosen) * static_cast<double>(chosen) / 2;
  stride = 1 + static_cast<int64_t>(cost / budget);
  return chosen;
}

TokenInput Play::input(int64_t layer, int64_t token) {
  return makeInput(mixed ? randomKind(random) : kind, seed, layer, token,
                   library.layers()[layer], model.stores(layer), library.io());
}

bool Play::playLayer(int64_t layer, int64_t token) {
  const TokenInput next = input(layer, token);
  const bool owns = model.stores(layer);
  if (token >= limitOf(layer))
    return !owns || token > limitOf(layer) ||
           comparison.compareFull(layer, next);
  // A reader may leave queries out.
  if (!owns && random.oneIn(5))
    return true;
  if (random.oneIn(40) && !comparison.compareErrors(layer, next))
    return false;
  if (!comparison.step(layer, next, random.oneIn(stride)))
    return false;
  return !(random.oneIn(6) || token + 1 == length) ||
         comparison.compareStored(layer);
}

std::string Play::run() {
  for (int64_t token = 0; token < length; ++token)
    for (int64_t layer = 0; layer < model.layers(); ++layer)
      if (!playLayer(layer, token))
        return comparison.miss();
  return "";
}

/// Plays one case; counts its spec once it compiles and runs.
static Expected<std::string> playCase(const FuzzOptions &options,
                                      int64_t number, StringRef text,
                                      Coverage &coverage, Worst &worst) {
  auto model = Model::fromSpec(text, formatv("case {0}", number).str(),
                               /*threads=*/false);
  if (!model)
    return model.takeError();
  auto folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  CompileOptions compile;
  compile.target = options.target;
  const std::string path = folder->file("library.so");
  if (Error error = (*model)->compile(compile, path))
    return error;
  auto library = LoadedLibrary::open(path, options.runner);
  if (!library)
    return library.takeError();
  const uint64_t seed = Random::mix(~options.seed, number);
  Random random(seed);
  const int64_t first =
      random.oneIn(2)
          ? 0
          : random.pick({1, 77, 4096, 100'000'000, int64_t{1} << 40});
  auto comparison = Comparison::create(*library, (*model)->module(), first);
  if (!comparison)
    return comparison.takeError();
  coverage.count(*(*model)->getSpec());
  std::string miss = Play(**comparison, *library, random.next()).run();
  worst.join((*comparison)->worst());
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
    // Where generated code crashes, this says which.
    PrettyStackTraceString trace(again.c_str());
    const std::string text = makeRandomSpec(options.seed, number);
    if (options.show)
      os << "# " << again << "\n" << text << "\n";
    auto result = playCase(options, number, text, coverage, worst);
    std::string miss = result ? *result : toString(result.takeError());
    if (miss.empty())
      continue;
    ++failures;
    progress.clear();
    os << formatv("failure: {0}\n{1}{2}\n\n", again, text, miss);
    os.flush();
  }
  progress.clear();
  coverage.print(os);
  os << formatv("{0} cases, {1} failures; largest errors as fractions of their "
                "bounds: out {2:f4}, lse {3:f4}\n",
                number - options.skip, failures, worst.out, worst.lse);
  return failures == 0;
}

} // namespace kvc::harness
