//===- OperationFailuresTest.cpp - each failure once, in turn -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A script of all operations runs as often as it asks for memory, writes and
// reads: each time the next one of these fails. The call that meets it says so
// and leaves every cache as it was; repeated it goes as if nothing had been,
// and at the end all memory is given back.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Model.h"
#include "test/unit/FencedMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"

#include <optional>

using namespace kvc;
using namespace kvc::harness;
using namespace kvc::test;

namespace {

using Bytes = std::vector<uint8_t>;

/// What fails: the call number `after` of its kind, once.
enum class Kind { Memory, Write, Read };

/// A stream that breaks once.
struct Pipe {
  Bytes bytes;
  size_t taken = 0;
  int64_t failAfter = -1; ///< calls before one fails; -1: none does
  bool failed = false;

  bool fails() {
    const bool now = failAfter == 0;
    failAfter -= failAfter >= 0;
    failed = failed || now;
    return now;
  }
  static int write(void *user, const void *bytes, size_t count) {
    auto &pipe = *static_cast<Pipe *>(user);
    if (pipe.fails())
      return 1;
    const auto *from = static_cast<const uint8_t *>(bytes);
    pipe.bytes.insert(pipe.bytes.end(), from, from + count);
    return 0;
  }
  /// One that breaks gives a part of what is asked for.
  static size_t read(void *user, void *bytes, size_t count) {
    auto &pipe = *static_cast<Pipe *>(user);
    count = std::min(count, pipe.bytes.size() - pipe.taken);
    if (pipe.fails())
      count /= 2;
    std::memcpy(bytes, pipe.bytes.data() + pipe.taken, count);
    pipe.taken += count;
    return count;
  }
};

class Script {
public:
  Script(const LoadedLibrary &library, const std::string &folder, Kind kind,
         int64_t after);
  /// Whether anything failed.
  bool run();

private:
  /// All that can be asked of every cache.
  std::vector<Bytes> state();
  void attempt(const char *what, llvm::function_ref<kvc_status()> call,
               kvc_cache *const &cache);

  void create(kvc_cache *&cache);
  void take(kvc_cache *&cache, int64_t tokens, bool attends);
  void ask(kvc_cache *&cache);
  void fork(kvc_cache *&from, kvc_cache *&to);
  void destroy(kvc_cache *&cache);
  void save(kvc_cache *&cache, Bytes &to);
  void load(kvc_cache *&cache, const Bytes &from);
  void throughFile(kvc_cache *&cache);

  Tokens tokens(int64_t layer, int64_t from, int64_t count) const;
  bool stores(int64_t layer) const {
    return library.layers()[layer].owner == layer;
  }

  const LoadedLibrary &library;
  std::string folder;
  Kind kind;
  Memory memory;
  int64_t pipeAfter = -1;
  bool pipeFailed = false;
  char createError[256] = "";
  std::vector<kvc_cache **> caches;
};

} // namespace

Script::Script(const LoadedLibrary &library, const std::string &folder,
               Kind kind, int64_t after)
    : library(library), folder(folder), kind(kind) {
  if (kind == Kind::Memory)
    memory.refuseAfter = after;
  else
    pipeAfter = after;
}

std::vector<Bytes> Script::state() {
  const int64_t later = std::exchange(memory.refuseAfter, -1);
  std::vector<Bytes> all;
  for (kvc_cache **cache : caches) {
    if (!*cache)
      continue;
    Pipe pipe;
    CHECK_EQ(library->save_to(*cache, Pipe::write, &pipe), KVC_OK);
    all.push_back(std::move(pipe.bytes));
    for (size_t layer = 0; layer < library.layers().size(); ++layer) {
      kvc_stats stats = {};
      stats.size = sizeof stats;
      CHECK_EQ(library->stats(*cache, static_cast<int32_t>(layer), &stats),
               KVC_OK);
      const auto *bytes = reinterpret_cast<const uint8_t *>(&stats);
      all.emplace_back(bytes, bytes + sizeof stats);
    }
  }
  memory.refuseAfter = later;
  return all;
}

/// `cache` is the one that has the text of an error.
void Script::attempt(const char *what, llvm::function_ref<kvc_status()> call,
                     kvc_cache *const &cache) {
  const std::vector<Bytes> before = state();
  kvc_status status = call();
  if (status == KVC_OK)
    return;
  const std::string text = cache ? library->last_error(cache) : createError;
  const bool right = kind == Kind::Memory ? status == KVC_OUT_OF_MEMORY
                     : kind == Kind::Write
                         ? status == KVC_IO
                         : status == KVC_IO || status == KVC_SNAPSHOT;
  if (!CHECK(right) || !CHECK(!text.empty()))
    std::printf("%s: %s: %s\n", what, library->status_name(status),
                text.c_str());
  if (!CHECK(state() == before))
    std::printf("%s changes what was there\n", what);
  status = call();
  if (!CHECK(status == KVC_OK))
    std::printf("%s fails again: %s\n", what, library->last_error(cache));
}

void Script::create(kvc_cache *&cache) {
  kvc_options options = {};
  options.size = sizeof options;
  options.error = createError;
  options.error_size = sizeof createError;
  memory.serve(options);
  attempt("create", [&] { return library->create(&options, &cache); }, cache);
}

void Script::fork(kvc_cache *&from, kvc_cache *&to) {
  attempt("fork", [&] { return library->fork(from, nullptr, &to); }, from);
}

void Script::destroy(kvc_cache *&cache) {
  library->destroy(cache);
  cache = nullptr;
}

Tokens Script::tokens(int64_t layer, int64_t from, int64_t count) const {
  std::vector<TokenInput> inputs;
  for (int64_t i = 0; i < count; ++i)
    inputs.push_back(makeInput(InputKind::Gaussian, 1, layer, from + i,
                               library.layers()[layer], stores(layer),
                               library.io()));
  return tokensOf(from, inputs, /*attends=*/true);
}

void Script::take(kvc_cache *&cache, int64_t count, bool attends) {
  for (size_t i = 0; i < library.layers().size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    if (!stores(layer) && !attends)
      continue;
    for (int64_t done = 0; done < count; ++done) {
      kvc_stats stats = {};
      stats.size = sizeof stats;
      library->stats(cache, int32_t(library.layers()[i].owner), &stats);
      // As many as the layer takes; a reader what is newest.
      int64_t piece = stores(layer) ? count - done : 1;
      if (library.chunk(layer) >= 0)
        piece = std::min(piece, library.chunk(layer));
      Tokens some = tokens(layer, stats.seen - (stores(layer) ? 0 : 1), piece);
      if (!attends)
        some.q.clear();
      CallBuffers buffers(library, layer, some);
      attempt(
          attends ? "prefill" : "append",
          [&] {
            kvc_chunk chunk = buffers.chunk(cache, attends);
            return attends ? library->prefill(&chunk, 1)
                           : library->append(&chunk, 1);
          },
          cache);
      done += piece - 1;
    }
  }
}

void Script::ask(kvc_cache *&cache) {
  const LayerShape &shape = library.layers()[0];
  const Tokens query = tokens(0, 0, 1);
  std::vector<float> out(shape.heads * shape.valueDim);
  attempt(
      "attend",
      [&] {
        kvc_stats stats = {};
        stats.size = sizeof stats;
        library->stats(cache, 0, &stats);
        kvc_query asked = {};
        asked.cache = cache;
        asked.position = stats.seen - 1;
        asked.tokens = 1;
        asked.to = INT64_MAX;
        asked.q = query.q.data();
        asked.out = out.data();
        return library->attend(&asked, 1);
      },
      cache);
}

void Script::save(kvc_cache *&cache, Bytes &to) {
  attempt(
      "save_to",
      [&] {
        Pipe pipe;
        if (kind == Kind::Write)
          pipe.failAfter = pipeAfter;
        const kvc_status status = library->save_to(cache, Pipe::write, &pipe);
        if (kind == Kind::Write)
          pipeAfter = pipe.failAfter;
        pipeFailed = pipeFailed || pipe.failed;
        to = std::move(pipe.bytes);
        return status;
      },
      cache);
}

void Script::load(kvc_cache *&cache, const Bytes &from) {
  attempt(
      "load_from",
      [&] {
        Pipe pipe;
        pipe.bytes = from;
        if (kind == Kind::Read)
          pipe.failAfter = pipeAfter;
        const kvc_status status = library->load_from(cache, Pipe::read, &pipe);
        if (kind == Kind::Read)
          pipeAfter = pipe.failAfter;
        pipeFailed = pipeFailed || pipe.failed;
        return status;
      },
      cache);
}

/// The file is there whole, and nothing is beside it.
void Script::throughFile(kvc_cache *&cache) {
  const std::string path = folder + "/snapshot";
  attempt("save", [&] { return library->save(cache, path.c_str()); }, cache);
  attempt("load", [&] { return library->load(cache, path.c_str()); }, cache);
  std::error_code error;
  int64_t files = 0;
  for (llvm::sys::fs::directory_iterator at(folder, error), end; at != end;
       at.increment(error))
    ++files;
  CHECK_EQ(files, 1);
  llvm::sys::fs::remove(path);
}

bool Script::run() {
  kvc_cache *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  caches = {&a, &b, &c, &d};
  Bytes early, late;
  create(a);
  take(a, 5, /*attends=*/false);
  save(a, early);
  take(a, 30, /*attends=*/true);
  ask(a);
  fork(a, b);
  take(b, 3, true); // each writes to what it shares
  take(a, 2, true);
  save(a, late);
  const auto longest = [&](kvc_cache *cache) {
    kvc_stats stats = {};
    stats.size = sizeof stats;
    library->stats(cache, 0, &stats);
    return stats.seen;
  };
  attempt("truncate", [&] { return library->truncate(a, longest(a) - 1); }, a);
  take(a, 3, true);
  load(b, late);
  take(b, 1, false);
  create(c);
  load(c, early);
  fork(c, d);
  destroy(c);
  take(d, 20, true);
  load(d, late);
  throughFile(d);
  ask(d);
  attempt("reset", [&] { return library->reset(b); }, b);
  take(b, 2, true);
  // The same tokens are the same still.
  load(b, late);
  Bytes again;
  save(b, again);
  CHECK(again == late);
  for (kvc_cache **cache : {&b, &a, &d})
    destroy(*cache);
  CHECK_EQ(memory.live(), size_t{0});
  return memory.refused || pipeFailed;
}

static void testAll(const char *spec) {
  auto model = Model::fromSpec(spec, "failures.yaml", /*threads=*/false);
  if (!CHECK(bool(model)))
    return llvm::consumeError(model.takeError());
  auto library = openCompiled(**model, CompileOptions());
  llvm::SmallString<128> folder;
  if (!CHECK(bool(library)) ||
      !CHECK(!llvm::sys::fs::createUniqueDirectory("kvc", folder)))
    return;
  for (Kind kind : {Kind::Memory, Kind::Write, Kind::Read}) {
    int64_t after = 0;
    while (Script(*library, folder.str().str(), kind, after).run())
      ++after;
    std::printf("%s: %lld failures\n",
                kind == Kind::Memory  ? "memory"
                : kind == Kind::Write ? "writes"
                                      : "reads",
                static_cast<long long>(after));
    CHECK(after > (kind == Kind::Write ? 2 : 100));
  }
  CHECK(!llvm::sys::fs::remove(folder));
}

int main() {
  testAll("kvc: 1\n"
          "name: codes\n"
          "model: {layers: 2, heads: 2, head_dim: 8, value_dim: 6}\n"
          "cache:\n"
          "  keys: {bits: 4, per: channel, group: 4, flush: 8}\n"
          "  values: {bits: 8, per: token, residual: 3}\n"
          "  sink: 3\n"
          "  window: 20\n"
          "  rollback: 4\n"
          "layers: [{at: 1, share: 0}]\n");
  testAll("kvc: 1\n"
          "name: floats\n"
          "model: {layers: 2, heads: 1, head_dim: 300, io: f16,\n"
          "        rope: {theta: 100}}\n"
          "cache: {keys: f32, values: f32, window: all, context: 100}\n"
          "layers: [{at: 1, head_dim: 4, keys: {bits: 2, per: channel, group: "
          "all},\n"
          "          rollback: 2, window: 9}]\n");
  return checkResult();
}
