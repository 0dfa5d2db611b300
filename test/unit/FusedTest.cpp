//===- FusedTest.cpp - attention over codes makes no copy of them ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 131072 tokens of 8 heads of 128 channels in 4 bits: 134 MB of codes, which
// would be 1 GB in f32. Attention over them, and a piece of a prefill, must not
// raise the most memory that the process ever held by 1 MiB.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Calls.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Random.h"
#include "test/unit/Check.h"

#include <cstdio>
#include <cstring>

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

constexpr int64_t tokens = 131072, heads = 8, dim = 128;

/// A line of /proc/self/status, in bytes.
int64_t memory(const char *line) {
  std::FILE *file = std::fopen("/proc/self/status", "r");
  char text[256];
  long long kilobytes = -1;
  while (file && std::fgets(text, sizeof text, file))
    if (std::strncmp(text, line, std::strlen(line)) == 0)
      std::sscanf(text + std::strlen(line), ": %lld", &kilobytes);
  if (file)
    std::fclose(file);
  return kilobytes * 1024;
}

/// The most that is resident counts from now.
bool forgetPeak() {
  std::FILE *file = std::fopen("/proc/self/clear_refs", "w");
  return file && std::fputs("5", file) >= 0 && std::fclose(file) == 0;
}

Tokens makeTokens(int64_t position, int64_t count, bool asks) {
  // Any numbers will do: the same ones, from another place on.
  static const std::vector<float> numbers = [] {
    Random random(1);
    std::vector<float> all(1 << 19);
    for (float &x : all)
      x = static_cast<float>(random.uniform() * 2 - 1);
    return all;
  }();
  Tokens made;
  made.position = position;
  made.count = count;
  const int64_t size = count * heads * dim, from = position * 37 % 65536;
  made.k.assign(numbers.begin() + from, numbers.begin() + from + size);
  made.v.assign(numbers.begin() + from + 99,
                numbers.begin() + from + 99 + size);
  for (int64_t i = 0; asks && i < 4 * size; ++i)
    made.q.push_back(numbers[(from + i) % (1 << 19)]);
  return made;
}

/// How much the most that is resident rises while `call` runs.
template <typename Call> int64_t rise(Call call) {
  const bool counts = forgetPeak();
  const int64_t before = memory("VmRSS");
  CHECK_EQ(call(), KVC_OK);
  CHECK(counts && before > 0);
  return memory("VmHWM") - before;
}

void check(const char *arithmetic) {
  auto model = Model::fromSpec(
      std::string("kvc: 1\nname: fused\nmodel: {layers: 1, heads: 32, "
                  "kv_heads: 8, head_dim: 128}\ncache: {keys: {bits: 4, per: "
                  "channel, group: 64, residual: 0}, values: {bits: 4, per: "
                  "token, residual: 0}, "
                  "context: 140000, arithmetic: ") +
          arithmetic + "}\n",
      "fused", /*threads=*/false);
  if (!model)
    return CHECK_EQ(toString(model.takeError()), ""), void();
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return CHECK_EQ(toString(library.takeError()), ""), void();
  auto cache = library->create();
  if (!cache)
    return CHECK_EQ(toString(cache.takeError()), ""), void();
  for (int64_t token = 0; token < tokens; token += 256)
    CHECK_EQ(append(*library, *cache, 0, makeTokens(token, 256, false)),
             KVC_OK);
  kvc_stats stats = {};
  stats.size = sizeof stats;
  (*library)->stats(cache->get(), 0, &stats);
  CHECK(stats.used.codes >= tokens * heads * dim);

  Output out;
  out.out.reserve(64 * 32 * 128);
  Tokens one = makeTokens(tokens, 1, true),
         piece = makeTokens(tokens + 1, 64, true);
  // Room for what the calls take themselves.
  CallBuffers step(*library, 0, one), chunk(*library, 0, piece);
  kvc_step decode = step.step(cache->get());
  kvc_chunk prefill = chunk.chunk(cache->get(), /*attends=*/true);
  const int64_t first = rise([&] { return (*library)->decode(&decode, 1); });
  const int64_t second = rise([&] { return (*library)->prefill(&prefill, 1); });
  std::printf("%s: a decode step %lld bytes, 64 tokens %lld bytes\n",
              arithmetic, static_cast<long long>(first),
              static_cast<long long>(second));
  // What a sanitizer keeps of freed memory counts too; a copy would be 1 GB.
  const int64_t bound = kvc::test::slowness > 1 ? 16 << 20 : 1 << 20;
  CHECK(first < bound);
  CHECK(second < bound);
}

} // namespace

int main() {
  for (const char *arithmetic : {"f32", "i16", "i8"})
    check(arithmetic);
  return kvc::test::checkResult();
}
