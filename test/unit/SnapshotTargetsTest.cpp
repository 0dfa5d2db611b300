//===- SnapshotTargetsTest.cpp - snapshots move between targets -----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `SnapshotTargetsTest LINUX MACOS`: the kvc-remotes for aarch64-linux and for
// arm64-apple-macos, which run under an emulator where all are there. Random
// specs, compiled for targets with other layouts and other words: the same
// tokens give the same snapshot, and each target goes on from what another one
// wrote.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/RandomModel.h"
#include "test/unit/Check.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace kvc;
using namespace kvc::harness;

using Bytes = std::vector<uint8_t>;

/// What one target made of some tokens, and of more behind what the first
/// target wrote.
struct Written {
  Bytes straight, later;
};

namespace {

/// One spec.
class Trial {
public:
  Trial(Model &model, uint64_t seed) : model(model), seed(seed) {}

  /// Nothing where this machine cannot run it. `moved` is what is loaded.
  std::optional<Written> runOn(const std::string &target,
                               const std::string &runner, const Bytes *moved);

private:
  void feed(const LoadedLibrary &library, const LibraryCache &cache,
            int64_t count, Random &random);

  Model &model;
  uint64_t seed;
};

} // namespace

/// Each owner takes `count` tokens more, or as many as fit, cut anyhow.
void Trial::feed(const LoadedLibrary &library, const LibraryCache &cache,
                 int64_t count, Random &random) {
  for (size_t i = 0; i < library.layers().size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    const LayerShape &shape = library.layers()[i];
    if (shape.owner != layer)
      continue;
    kvc_stats stats = {};
    stats.size = sizeof stats;
    CHECK_EQ(library->stats(cache.get(), int32_t(layer), &stats), KVC_OK);
    const int64_t end = std::min(stats.seen + count, library.limit(layer));
    for (int64_t at = stats.seen; at < end;) {
      int64_t piece = std::min(end - at, random.between(1, 40));
      if (library.chunk(layer) >= 0)
        piece = std::min(piece, library.chunk(layer));
      std::vector<TokenInput> inputs;
      for (int64_t t = at; t < at + piece; ++t)
        inputs.push_back(makeInput(InputKind::Outliers, seed, layer, t, shape,
                                   true, library.io()));
      CHECK_EQ(append(library, cache, layer,
                      tokensOf(at, inputs, /*attends=*/false)),
               KVC_OK);
      at += piece;
    }
  }
}

std::optional<Written> Trial::runOn(const std::string &target,
                                    const std::string &runner,
                                    const Bytes *moved) {
  CompileOptions options;
  options.target = target;
  auto library = openCompiled(model, options, runner);
  if (!CHECK(bool(library))) {
    std::printf("%s\n", llvm::toString(library.takeError()).c_str());
    return std::nullopt;
  }
  auto cache = library->create(0, makeSinks(1, library->layers()));
  if (!cache) {
    const std::string why = llvm::toString(cache.takeError());
    CHECK(llvm::StringRef(why).contains("CPU"));
    std::printf("%s is compiled and not run: %s\n", target.c_str(),
                why.c_str());
    return std::nullopt;
  }
  Random random(seed);
  Written written;
  feed(*library, *cache, 70, random);
  CHECK_EQ(save(*library, *cache, written.straight), KVC_OK);
  if (moved) {
    // Into a cache that has something else.
    feed(*library, *cache, 5, random);
    if (!CHECK_EQ(load(*library, *cache, *moved), KVC_OK))
      std::printf("%s: %s\n", target.c_str(), cache->lastError());
    Bytes again;
    CHECK_EQ(save(*library, *cache, again), KVC_OK);
    CHECK(again == *moved);
  }
  feed(*library, *cache, 30, random);
  CHECK_EQ(save(*library, *cache, written.later), KVC_OK);
  return written;
}

/// What runs `remote` under the emulator; "" where one of the two is not there.
static std::string emulated(const char *remote) {
  const auto emulator = llvm::sys::findProgramByName("qemu-aarch64");
  if (!emulator || !llvm::sys::fs::can_execute(remote)) {
    std::printf("%s does not run here: no emulator, or it is not built\n",
                remote);
    return "";
  }
  return *emulator + " -L /usr/aarch64-linux-gnu '" + remote + "'";
}

int main(int argc, char **argv) {
  if (!CHECK_EQ(argc, 3))
    return kvc::test::checkResult();
  const std::string onLinux = emulated(argv[1]), onMacOS = emulated(argv[2]);
  for (int64_t number = 0; number < 3; ++number) {
    const std::string text = makeRandomSpec(/*seed=*/31, number);
    auto model = Model::fromSpec(text, "random", /*threads=*/false);
    if (!CHECK(bool(model))) {
      llvm::consumeError(model.takeError());
      continue;
    }
    Trial trial(**model, static_cast<uint64_t>(number));
    const auto first = trial.runOn("x86-64-v3", "", nullptr);
    if (!first) // another machine than the tests are for
      continue;
    auto compare = [&](const std::string &target, const std::string &with) {
      const auto other = trial.runOn(target, with, &first->straight);
      if (!other)
        return;
      if (!CHECK(other->straight == first->straight) ||
          !CHECK(other->later == first->later))
        std::printf("%s differs from x86-64-v3 in\n%s\n", target.c_str(),
                    text.c_str());
    };
    compare("x86-64-v4", "");
    if (!onLinux.empty())
      compare("aarch64-linux", onLinux);
    if (!onMacOS.empty())
      compare("arm64-apple-macos", onMacOS);
  }
  return kvc::test::checkResult();
}
