//===- VerifyTest.cpp - a library that lies is found out ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `VerifyTest LIBRARY`: the library is LyingLibrary's.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Verify.h"
#include "compiler/harness/Play.h"
#include "test/unit/Check.h"
#include "test/unit/LyingLibrary.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace kvc;
using namespace kvc::harness;
using kvc::test::Lie;

static const char *lyingSpec =
    "kvc: 1\n"
    "name: lying\n"
    "model: {layers: 3, heads: 4, kv_heads: 2, head_dim: 4, scale: 0.01,\n"
    "        rope: {theta: 100}}\n"
    "cache: {sink: 2, window: 5, positions: cache}\n"
    "layers:\n"
    "  - {at: 1, share: 0, heads: 2}\n"
    "  - {at: 2, heads: 2, rope: none, sink: 0, window: all, context: 9,\n"
    "     positions: absolute}\n";

/// What each lie is called where it is found.
static const char *wordOf(Lie lie) {
  switch (lie) {
  case Lie::Out:
  case Lie::NotFinite:
    return "position 6: out[";
  case Lie::Lse:
    return "position 6: lse";
  case Lie::WrongHead:
  case Lie::OneRotation:
    return "out[";
  case Lie::KeyBit:
    return "key of position";
  case Lie::Position:
    return "has position";
  case Lie::Saturated:
    return "saturated is 1";
  case Lie::Used:
    return "bytes of residual";
  case Lie::Held:
    return "bytes are held";
  case Lie::HeldPage:
    return "at length 19: 6656 bytes are held in pages, at the high-water mark "
           "it should be 4992";
  case Lie::Padding:
    return "bytes are padding";
  case Lie::TakesNan:
    return "a bad number in v";
  case Lie::AnyOrder:
    return "a wrong position";
  case Lie::NeverFull:
    return "a token beyond the context";
  case Lie::RefusalChanges:
    return "value of position";
  case Lie::EvictsLate:
    return "stored is 8 in stats, 7 in the reference";
  case Lie::TruncateLate:
    return "stored is";
  case Lie::TruncateGone:
    return "tokens gives some status, it should be";
  case Lie::NoText:
    return "truncate to a length that never was leaves no error text";
  case Lie::ForkChanges:
    return "a fork: layer 0: at length";
  case Lie::SaveForgets:
    return "value of position 4";
  case Lie::SaveRemembers:
    return "the same tokens in a new cache make another snapshot";
  case Lie::LoadTakesAll:
    return "load of ";
  case Lie::RefusedLoadChanges:
    return "is refused, and changes what a snapshot has";
  case Lie::SavesForAll:
    return "save makes a file that others than its owner can read";
  case Lie::LoadsFolder:
    return "load of a folder gives some status, it should be";
  case Lie::ResetForgets:
    return "at length 0: seen is";
  default:
    return "";
  }
}

/// Some lies end the process, so a child tries them; what it wrote, and how it
/// ended, is what a user sees.
static void testEnd(const Subject &subject, Lie lie, const char *want) {
  setenv("KVC_TEST_LIE", std::to_string(static_cast<int>(lie)).c_str(), 1);
  int ends[2];
  if (!CHECK(pipe(ends) == 0))
    return;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    auto right = verify(subject, "", llvm::outs());
    llvm::consumeError(right.takeError());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  if (!CHECK(llvm::StringRef(text).starts_with("lying: layers 3") &&
             llvm::StringRef(text).ends_with(want)))
    llvm::errs() << text;
}

/// In a random order, too: what is true is right whatever the order, and a lie
/// about an operation is found by some.
static void testRandomOrders(const Subject &subject) {
  for (int lie = 0; lie < static_cast<int>(Lie::Count); ++lie) {
    if (lie > 0 && lie < static_cast<int>(Lie::TruncateLate))
      continue;
    setenv("KVC_TEST_LIE", std::to_string(lie).c_str(), 1);
    std::string found;
    OperationCounts met = {};
    for (uint64_t seed = 0; seed < 40 && found.empty(); ++seed) {
      auto both =
          Comparison::create(*subject.library, subject.model->module(), 7,
                             makeSinks(1, subject.library->layers()));
      if (!CHECK(bool(both)))
        return llvm::consumeError(both.takeError());
      Play play(std::move(*both), *subject.library, seed);
      found = play.runOperations();
      for (auto [all, more] : llvm::zip(met, play.met()))
        all += more;
      if (lie == 0 && !CHECK(found.empty()))
        llvm::errs() << "seed " << seed << ": " << found << "\n";
    }
    const bool truth = lie == 0;
    if (!CHECK(found.empty() == truth))
      llvm::errs() << "lie " << lie << "\n";
    for (auto [name, count] : llvm::zip(operationNames(), met))
      if (truth && !CHECK(count > 0))
        llvm::errs() << name.str() << " never was\n";
  }
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 1;
  auto library = LoadedLibrary::open(argv[1]);
  // Without threads, which a child would not have.
  auto model = Model::fromSpec(lyingSpec, "lying.yaml", /*threads=*/false);
  if (!CHECK(bool(library)) || !CHECK(bool(model))) {
    llvm::errs() << llvm::toString(model.takeError()) << "\n";
    return 1;
  }
  Subject subject;
  subject.library = std::make_unique<LoadedLibrary>(std::move(*library));
  subject.model = std::move(*model);
  for (int lie = 0; lie < static_cast<int>(Lie::Count); ++lie) {
    setenv("KVC_TEST_LIE", std::to_string(lie).c_str(), 1);
    std::string text;
    llvm::raw_string_ostream os(text);
    auto right = verify(subject, "", os);
    if (!CHECK(bool(right))) {
      llvm::consumeError(right.takeError());
      continue;
    }
    const bool truth = lie == 0;
    const bool found =
        text.find("miss: ") != std::string::npos &&
        text.find(wordOf(static_cast<Lie>(lie))) != std::string::npos;
    if (!CHECK(right->right() == truth && found != truth))
      llvm::errs() << "lie " << lie << ":\n" << text;
  }
  testRandomOrders(subject);
  testEnd(subject, Lie::Crash,
          "gaussian\n  miss: the library crashed in decode of layer 0 at "
          "position 6: segmentation fault\n");
#ifdef __x86_64__ // not every Arm has traps
  testEnd(subject, Lie::FeelsFloats,
          "calls\n  miss: the library crashed in decode of layer 1 at "
          "position 1: arithmetic exception\n");
#endif
  testEnd(subject, Lie::LeavesFloats,
          "calls\n  miss: the library left other float settings than it found "
          "in decode of layer 0 at position 0: rounding, flushing, traps or "
          "exception flags\n");
  return kvc::test::checkResult();
}
