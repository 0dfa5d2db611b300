//===- yardstick-bench.cpp - generated kernels beside hand-written ones ---===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   yardstick-bench ROUNDS TOKENS,... THREADS,... KIND=LIB...
//
// KIND is f16, i8, i4 or i2. First each hand-written kernel attends to 512
// tokens, and is held against fp64 attention: exit code 1 where it misses its
// bound. Then, for each length and number of threads, round by round: memory is
// read, and each pair takes its turn: the hand-written kernel attends once in
// as many layers as hold what the library's sequences hold, and the library
// takes a whole step, rotation and append included, in all layers of them.
// Printed are medians, and ratios that were formed within a round.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Bandwidth.h"
#include "compiler/harness/Crash.h"
#include "compiler/harness/Walk.h"
#include "test/bench/Yardstick.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <chrono>
#include <optional>

using namespace llvm;
using namespace kvc;

namespace {

constexpr int64_t checkedTokens = 512;

struct Pair {
  std::string name;
  yardstick::Kind kind;
  yardstick::Shape shape;
  std::unique_ptr<harness::Candidate> candidate;
};

/// What one pair gave at one length.
struct Samples {
  std::vector<double> hand, generated, ratios;
};

double at(std::vector<double> values, double where) {
  sort(values);
  return values[static_cast<size_t>(
      where * static_cast<double>(values.size() - 1) + 0.5)];
}

[[noreturn]] void give(const Twine &why) {
  errs() << "yardstick-bench: " << why << "\n";
  std::exit(1);
}

template <typename T> T must(Expected<T> value) {
  if (!value)
    give(toString(value.takeError()));
  return std::move(*value);
}
void must(Error error) {
  if (error)
    give(toString(std::move(error)));
}

Pair open(StringRef argument) {
  auto [kindName, path] = argument.split('=');
  auto kind = StringSwitch<std::optional<yardstick::Kind>>(kindName)
                  .Case("f16", yardstick::Kind::F16)
                  .Case("i8", yardstick::Kind::I8)
                  .Case("i4", yardstick::Kind::I4)
                  .Case("i2", yardstick::Kind::I2)
                  .Default(std::nullopt);
  if (!kind || path.empty())
    give("'" + argument + "' is not KIND=LIB, of f16, i8, i4 or i2");
  Pair pair{kindName.str(), *kind, {}, nullptr};
  pair.candidate = std::make_unique<harness::Candidate>(
      must(harness::LoadedLibrary::open(path)));
  const harness::LayerShape &layer = pair.candidate->library.layers()[0];
  pair.shape = {layer.heads, layer.kvHeads, layer.headDim};
  auto cache = layer.headDim == layer.valueDim
                   ? yardstick::make(pair.kind, pair.shape, 1, checkedTokens, 1)
                   : nullptr;
  if (!cache)
    give("nothing is written by hand for the shape of " + path);
  cache->attend(0);
  const double error = cache->error(0);
  outs() << formatv("{0}/{1} x {2} {3}: error {4:e2} of {5:e2}\n", layer.heads,
                    layer.kvHeads, layer.headDim, kindName, error,
                    cache->bound());
  if (!(error <= cache->bound()))
    give("the hand-written " + kindName + " kernel is wrong");
  return pair;
}

double attend(yardstick::Cache &cache, int64_t layers) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t layer = 0; layer < layers; ++layer)
    cache.attend(layer);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(layers);
}

/// One pair at one length.
struct Race {
  Race(const Pair &pair, int64_t tokens, int64_t threads, int64_t rounds,
       int64_t walk)
      : pair(pair), walk(*pair.candidate, threads) {
    const int64_t each = must(pair.candidate->stored(tokens));
    const int64_t sequences = divideCeil(walk, each);
    layers = sequences * pair.candidate->library.info().layers;
    hand = yardstick::make(pair.kind, pair.shape, layers, tokens,
                           static_cast<int>(threads));
    must(this->walk.prepare(sequences, tokens, rounds, /*stepsARound=*/1));
    bytes = each / pair.candidate->library.info().layers;
  }

  void round() {
    of.hand.push_back(attend(*hand, layers));
    of.generated.push_back(must(walk.step()) /
                           pair.candidate->library.info().layers);
    of.ratios.push_back(of.generated.back() / of.hand.back());
  }

  void print(int64_t tokens, int64_t threads) const {
    const double mine = at(of.hand, 0.5), its = at(of.generated, 0.5);
    outs() << formatv(
        "{0,-16}{1,-5}{2,8}{3,8}{4,11:f1}{5,12:f1}{6,12:f1}{7,8:f2}{8,8:f2}"
        "{9,8:f3}  {10:f2}-{11:f2}\n",
        pair.candidate->library.info().name, pair.name, tokens, threads,
        static_cast<double>(hand->bytes() * layers) / 1e6, mine * 1e6,
        its * 1e6, static_cast<double>(hand->bytes()) / mine / 1e9,
        static_cast<double>(bytes) / its / 1e9, at(of.ratios, 0.5),
        at(of.ratios, 0.1), at(of.ratios, 0.9));
  }

  const Pair &pair;
  harness::Walk walk;
  std::unique_ptr<yardstick::Cache> hand;
  int64_t layers = 0, bytes = 0;
  Samples of;
};

void race(ArrayRef<Pair> pairs, int64_t tokens, int64_t threads, int64_t rounds,
          const harness::Bandwidth &bandwidth) {
  std::vector<std::unique_ptr<Race>> races;
  for (const Pair &pair : pairs)
    races.push_back(std::make_unique<Race>(pair, tokens, threads, rounds,
                                           2 * harness::lastLevelCacheBytes()));
  std::vector<double> one, four;
  for (int64_t round = 0; round < rounds; ++round) {
    one.push_back(bandwidth.read(threads, 1));
    four.push_back(bandwidth.read(threads, 4));
    for (auto &race : races)
      race->round();
  }
  for (auto &race : races)
    race->print(tokens, threads);
  outs() << formatv("  memory read between them: {0:f2} GB/s in 1 stream, "
                    "{1:f2} in 4\n",
                    at(one, 0.5) / 1e9, at(four, 0.5) / 1e9);
  outs().flush();
}

std::vector<int64_t> integersOf(StringRef list) {
  std::vector<int64_t> found;
  for (StringRef word : split(list, ',')) {
    int64_t number = 0;
    if (word.getAsInteger(10, number) || number < 1)
      give("'" + list + "' is no list of numbers");
    found.push_back(number);
  }
  return found;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    give("usage: yardstick-bench ROUNDS TOKENS,... THREADS,... KIND=LIB...");
  const int64_t rounds = integersOf(argv[1]).front();
  harness::Trial trial("", outs());
  std::vector<Pair> pairs;
  for (int i = 4; i < argc; ++i)
    pairs.push_back(open(argv[i]));
  harness::Bandwidth bandwidth(4 * harness::lastLevelCacheBytes());
  outs() << formatv("\nmedians of {0} rounds, a layer\n"
                    "{1,-16}{2,-5}{3,8}{4,8}{5,11}{6,12}{7,12}{8,8}{9,8}{10,8}"
                    "  10%-90%\n",
                    rounds, "library", "kind", "tokens", "threads", "MB walked",
                    "us by hand", "generated", "GB/s", "GB/s", "ratio");
  for (int64_t tokens : integersOf(argv[2]))
    for (int64_t threads : integersOf(argv[3]))
      race(pairs, tokens, threads, rounds, bandwidth);
  return 0;
}
