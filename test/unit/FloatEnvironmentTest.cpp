//===- FloatEnvironmentTest.cpp - calls under the host's float settings ---===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host's rounding, traps and flushing of subnormal numbers, on its thread or
// on those of its parallel-for, change no bit of what a library gives and
// stores. Each call, one that fails too, leaves them and the exception flags as
// they were. Functions of the host's are called under the library's settings.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Inputs.h"
#include "compiler/harness/LoadedLibrary.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/remote/FloatSetting.h"
#include "test/unit/Check.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

struct Case {
  const char *spec;
  float scale; ///< of values: outputs may be subnormal
};

const Case cases[] = {
    {"model: {layers: 1, heads: 4, kv_heads: 2, head_dim: 24, value_dim: 9,\n"
     "        rope: {theta: 10000}}\n"
     "cache: {context: 5000}\n",
     1e-39F},
    {"model: {layers: 1, heads: 4, kv_heads: 2, head_dim: 32,\n"
     "        rope: {theta: 10000}, learned_sinks: true}\n"
     "cache: {keys: {bits: 4, per: channel, group: 16},\n"
     "        values: {bits: 8, per: token, group: 16}, sink: 2, window: 90,\n"
     "        arithmetic: i16, rollback: 20}\n",
     1},
    {"model: {layers: 1, heads: 4, kv_heads: 4, head_dim: 8, io: f32}\n"
     "cache: {keys: {bits: 4, per: channel, group: all}, values: bf16,\n"
     "        window: 50}\n",
     1}};

/// Registers as the host has them; what happened before them included.
std::vector<kvc_float_registers> settings() {
  std::vector<kvc_float_registers> all;
  for (uint64_t i = KVC_FLOATS_TRAP; i < KVC_FLOATS_SETTINGS; ++i)
    all.push_back({kvc_floats_control(i), 0});
#ifdef __x86_64__
  const uint64_t flushed = 0x9f80, zeros = 0x1fc0;
  all.push_back({flushed, 0});
  all.push_back({zeros, 0x15});
#elif defined(__aarch64__)
  const uint64_t defaultNan = 1 << 25, otherHalf = 1 << 26;
  all.push_back({defaultNan | otherHalf, 0x11});
#endif
  return all;
}

/// How a cache is used.
struct Host {
  kvc_float_registers floats; ///< of the thread that calls
  int32_t threads;
  bool parallelFor;
  bool fromCreate; ///< else set when the cache is there
};

const kvc_float_registers usual = {kvc_floats_control(KVC_FLOATS_AS_THEY_ARE),
                                   0};

//===----------------------------------------------------------------------===//
// The host's functions
//===----------------------------------------------------------------------===//

// No CHECK is made where traps are on: they count what was wrong.
std::atomic<int64_t> hostCalls = 0, wrongSettings = 0;

void look() {
  ++hostCalls;
  if (kvc_floats_read().control != usual.control)
    ++wrongSettings;
}

void *allocate(void *, size_t bytes, size_t alignment) {
  look();
  return std::aligned_alloc(alignment,
                            (bytes + alignment - 1) / alignment * alignment);
}

void release(void *, void *memory) {
  look();
  std::free(memory);
}

int write(void *user, const void *bytes, size_t count) {
  look();
  auto *to = static_cast<std::vector<char> *>(user);
  const auto *from = static_cast<const char *>(bytes);
  to->insert(to->end(), from, from + count);
  return 0;
}

size_t read(void *user, void *bytes, size_t count) {
  look();
  auto *from = static_cast<ArrayRef<char> *>(user);
  count = std::min(count, from->size());
  std::copy_n(from->begin(), count, static_cast<char *>(bytes));
  *from = from->drop_front(count);
  return count;
}

/// Half of the work here, half on a thread that has settings of its own.
void runOnTwo(void *user, int64_t count, kvc_body body, void *context) {
  look();
  std::thread other([&] {
    kvc_floats_write(*static_cast<const kvc_float_registers *>(user));
    const kvc_float_registers set = kvc_floats_read();
    for (int64_t i = 1; i < count; i += 2)
      body(context, i);
    if (!kvc_floats_same(kvc_floats_read(), set))
      ++wrongSettings;
    kvc_floats_write(usual);
  });
  for (int64_t i = 0; i < count; i += 2)
    body(context, i);
  other.join();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Calls under a host's settings, and all bytes that came of it.
class Calls {
public:
  Calls(const LoadedLibrary &library, Host &host, float scale)
      : library(library), host(host), scale(scale) {}
  std::vector<char> run();

private:
  template <typename Function, typename... Arguments>
  kvc_status call(Function function, Arguments... arguments) {
    const kvc_float_registers before = kvc_floats_read();
    kvc_floats_write(floats);
    const kvc_float_registers set = kvc_floats_read();
    const kvc_status status = function(arguments...);
    const kvc_float_registers left = kvc_floats_read();
    kvc_floats_write(before);
    CHECK(kvc_floats_same(left, set));
    return status;
  }
  template <typename T> void keep(const std::vector<T> &values) {
    const char *from = reinterpret_cast<const char *>(values.data());
    bytes.insert(bytes.end(), from, from + values.size() * sizeof(T));
  }

  kvc_cache *create();
  void take(kvc_cache *cache, int64_t count, bool attends);
  void step(kvc_cache *cache);
  void fail(kvc_cache *cache);
  void askInParts(kvc_cache *cache);
  void readAll(kvc_cache *cache);
  void destroy(kvc_cache *cache) {
    call([&] { return library->destroy(cache), KVC_OK; });
  }
  TokenInput input(int64_t token) const {
    TokenInput made =
        makeInput(InputKind::Outliers, /*seed=*/1, 0, token,
                  library.layers()[0], /*stores=*/true, library.io());
    for (float &value : made.v)
      value *= scale;
    return made;
  }

  const LoadedLibrary &library;
  Host &host;
  float scale;
  kvc_float_registers floats = usual;
  int64_t position = 0;
  std::vector<char> bytes;
};

kvc_cache *Calls::create() {
  kvc_options options = {};
  options.size = sizeof options;
  options.threads = host.threads;
  options.allocate = allocate;
  options.release = release;
  if (host.parallelFor) {
    options.parallel_for = runOnTwo;
    options.parallel_for_user = &host.floats;
  }
  const LearnedSinks sinks = makeSinks(/*seed=*/1, library.layers());
  const float *const first = sinks[0].data();
  if (library.layers()[0].learnedSinks)
    options.learned_sinks = &first;
  kvc_cache *cache = nullptr;
  CHECK_EQ(call(library->create, &options, &cache), KVC_OK);
  return cache;
}

void Calls::take(kvc_cache *cache, int64_t count, bool attends) {
  const LayerShape &shape = library.layers()[0];
  std::vector<float> q, k, v;
  for (int64_t i = 0; i < count; ++i) {
    const TokenInput one = input(position + i);
    q.insert(q.end(), one.q.begin(), one.q.end());
    k.insert(k.end(), one.k.begin(), one.k.end());
    v.insert(v.end(), one.v.begin(), one.v.end());
  }
  std::vector<float> out(count * shape.heads * shape.valueDim),
      lse(count * shape.heads);
  kvc_chunk chunk = {};
  chunk.cache = cache;
  chunk.position = position;
  chunk.tokens = count;
  chunk.k = k.data();
  chunk.v = v.data();
  if (attends) {
    chunk.q = q.data();
    chunk.out = out.data();
    chunk.lse = lse.data();
  }
  CHECK_EQ(call(attends ? library->prefill : library->append, &chunk, 1),
           KVC_OK);
  position += count;
  keep(out);
  keep(lse);
}

void Calls::step(kvc_cache *cache) {
  const LayerShape &shape = library.layers()[0];
  const TokenInput one = input(position);
  std::vector<float> out(shape.heads * shape.valueDim), lse(shape.heads);
  kvc_step step = {};
  step.cache = cache;
  step.position = position++;
  step.q = one.q.data();
  step.k = one.k.data();
  step.v = one.v.data();
  step.out = out.data();
  step.lse = lse.data();
  CHECK_EQ(call(library->decode, &step, 1), KVC_OK);
  keep(out);
  keep(lse);
}

/// What is refused, numbers that are none among it.
void Calls::fail(kvc_cache *cache) {
  TokenInput one = input(position);
  std::vector<float> out(4096);
  kvc_step step = {};
  step.cache = cache;
  step.position = position + 1;
  step.q = one.q.data();
  step.k = one.k.data();
  step.v = one.v.data();
  step.out = out.data();
  CHECK_EQ(call(library->decode, &step, 1), KVC_ORDER);
  step.position = position;
  for (float bad : {std::numeric_limits<float>::signaling_NaN(),
                    std::numeric_limits<float>::infinity(), 3e38F}) {
    one.k[1] = bad;
    CHECK_EQ(call(library->decode, &step, 1), KVC_NOT_FINITE);
  }
  CHECK_EQ(call(library->decode, static_cast<kvc_step *>(nullptr), 1),
           KVC_INVALID_ARGUMENT);
  std::vector<char> nothing(100);
  ArrayRef<char> from = nothing;
  CHECK_EQ(call(library->load_from, cache, read, static_cast<void *>(&from)),
           KVC_SNAPSHOT);
}

void Calls::askInParts(kvc_cache *cache) {
  const LayerShape &shape = library.layers()[0];
  const TokenInput one = input(position);
  // The last part has no tokens: minus infinity, in whose place nothing traps.
  const int64_t borders[] = {0, position - 20, position - 3, position + 5,
                             position + 9};
  constexpr size_t parts = std::size(borders) - 1;
  std::vector<float> out[parts], lse[parts];
  kvc_part table[parts];
  for (size_t i = 0; i < parts; ++i) {
    out[i].resize(shape.heads * shape.valueDim);
    lse[i].resize(shape.heads);
    table[i] = {out[i].data(), lse[i].data()};
    kvc_query query = {};
    query.cache = cache;
    query.position = position;
    query.tokens = 1;
    query.from = borders[i];
    query.to = borders[i + 1];
    query.with_sinks = i == 0 && shape.learnedSinks;
    query.q = one.q.data();
    query.out = out[i].data();
    query.lse = lse[i].data();
    CHECK_EQ(call(library->attend, &query, 1), KVC_OK);
    keep(out[i]);
    keep(lse[i]);
  }
  CHECK_EQ(lse[parts - 1][0], -std::numeric_limits<float>::infinity());
  std::vector<float> all(shape.heads * shape.valueDim), allLse(shape.heads);
  CHECK_EQ(call(library->merge, 0, table, parts, int64_t{1},
                static_cast<void *>(all.data()), allLse.data()),
           KVC_OK);
  keep(all);
  keep(allLse);
}

void Calls::readAll(kvc_cache *cache) {
  const LayerShape &shape = library.layers()[0];
  int64_t stored = 0;
  CHECK_EQ(call(library->stored, cache, 0, &stored), KVC_OK);
  std::vector<float> keys(shape.kvHeads * stored * shape.headDim),
      values(shape.kvHeads * stored * shape.valueDim);
  CHECK_EQ(call(library->read, cache, 0, int64_t{0}, stored, keys.data(),
                values.data(), static_cast<int64_t *>(nullptr)),
           KVC_OK);
  keep(keys);
  keep(values);
  std::vector<kvc_stats> stats(1);
  stats[0].size = sizeof(kvc_stats);
  CHECK_EQ(call(library->stats, cache, 0, stats.data()), KVC_OK);
  keep(std::vector<int64_t>{stats[0].seen, stats[0].saturated});
  std::vector<kvc_bytes> plan(1);
  CHECK_EQ(call(library->plan, 0, position, plan.data()), KVC_OK);
  keep(plan);
}

std::vector<char> Calls::run() {
  if (host.fromCreate)
    floats = host.floats;
  kvc_cache *cache = create();
  floats = host.floats;
  take(cache, 40, /*attends=*/false);
  take(cache, 37, /*attends=*/true);
  for (int i = 0; i < 20; ++i)
    step(cache);
  fail(cache);
  askInParts(cache);
  readAll(cache);
  std::vector<char> snapshot;
  CHECK_EQ(call(library->save_to, cache, write, static_cast<void *>(&snapshot)),
           KVC_OK);
  keep(snapshot);
  kvc_cache *fork = nullptr;
  CHECK_EQ(call(library->fork, cache, static_cast<const kvc_options *>(nullptr),
                &fork),
           KVC_OK);
  take(fork, 30, /*attends=*/true);
  readAll(fork);
  position = 97;
  CHECK_EQ(call(library->reset, cache), KVC_OK);
  ArrayRef<char> from = snapshot;
  CHECK_EQ(call(library->load_from, cache, read, static_cast<void *>(&from)),
           KVC_OK);
  for (int i = 0; i < 20; ++i)
    step(cache);
  CHECK_EQ(call(library->truncate, cache, position), KVC_OK);
  readAll(cache);
  destroy(fork);
  destroy(cache);
  return std::move(bytes);
}

void check(const Case &one) {
  auto model = Model::fromSpec(std::string("kvc: 1\nname: floats\n") + one.spec,
                               "floats", /*threads=*/false);
  if (!CHECK(bool(model))) {
    errs() << toString(model.takeError()) << "\n";
    return;
  }
  auto library = openCompiled(**model, CompileOptions());
  if (!CHECK(bool(library))) {
    errs() << toString(library.takeError()) << "\n";
    return;
  }
  Host plain = {usual, 1, false, true};
  const std::vector<char> right = Calls(*library, plain, one.scale).run();
  CHECK(!right.empty());
  for (const kvc_float_registers &floats : settings())
    for (int32_t threads : {1, 4, 0})
      for (bool fromCreate : {false, true}) {
        Host host = {floats, threads, threads == 0, fromCreate};
        const std::vector<char> got = Calls(*library, host, one.scale).run();
        if (!CHECK(got == right))
          errs() << "control " << floats.control << ", " << threads
                 << " threads, from create on: " << fromCreate << "\n"
                 << one.spec;
      }
}

} // namespace

int main() {
  for (const Case &one : cases)
    check(one);
  CHECK(hostCalls > 0);
  CHECK_EQ(wrongSettings, 0);
  return kvc::test::checkResult();
}
