//===- neon-yardstick.cpp - what is written by hand, run and checked ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   neon-yardstick check                   every kernel beside fp64
//   neon-yardstick f16|int8|int4|int2 N    one, over N records of random bits
//
// For aarch64 Linux, with C's library alone. Its functions `by_hand_KIND` are
// what neon-loops.py counts the instructions of.
//
//===----------------------------------------------------------------------===//

#include "test/bench/NeonKernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace kvc::neon;

#define BY_HAND(NAME, KERNEL)                                                  \
  extern "C" __attribute__((noinline)) void by_hand_##NAME(                    \
      const float (&q)[Group][Dim], const KERNEL::Record *records,             \
      int64_t count, State &state) {                                           \
    for (int64_t i = 0; i < count; ++i)                                        \
      take<KERNEL>(q, records[i], state);                                      \
  }
using Int8 = Coded<Codes8>;
using Int4 = Coded<SmallCodes<4>>;
using Int2 = Coded<SmallCodes<2>>;
BY_HAND(f16, Floats)
BY_HAND(int8, Int8)
BY_HAND(int4, Int4)
BY_HAND(int2, Int2)

static uint32_t randomBits() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 32;
}
/// In [least, most).
static float random(float least, float most) {
  return least + (most - least) * static_cast<float>(randomBits()) * 0x1p-32f;
}

static void fill(Floats::Record &record) {
  for (auto &block : record.keys)
    for (auto &row : block)
      for (float16_t &x : row)
        x = static_cast<float16_t>(random(-2, 2));
  for (auto &block : record.values)
    for (auto &row : block)
      for (float16_t &x : row)
        x = static_cast<float16_t>(random(-2, 2));
}
template <typename Kind>
static void fill(typename Coded<Kind>::Record &record) {
  auto *bytes = reinterpret_cast<uint8_t *>(&record);
  for (size_t i = 0; i < sizeof record; ++i)
    bytes[i] = static_cast<uint8_t>(randomBits());
  const float step = 4.0f / ((1 << Kind::Bits) - 1);
  for (int d = 0; d < Dim; ++d) {
    record.keyScale[d] = static_cast<float16_t>(random(0.5f * step, step));
    record.keyZero[d] = static_cast<float16_t>(random(-3, -1));
  }
  for (int t = 0; t < Tokens; ++t) {
    record.valueScale[t] = static_cast<float16_t>(random(0.5f * step, step));
    record.valueZero[t] = static_cast<float16_t>(random(-3, -1));
  }
}
static void fill(Int8::Record &record) { fill<Codes8>(record); }
static void fill(Int4::Record &record) { fill<SmallCodes<4>>(record); }
static void fill(Int2::Record &record) { fill<SmallCodes<2>>(record); }

/// The largest error of one head, as a part of the largest output, had every
/// value its magnitude.
template <typename Kernel>
static double errorOf(const float *q, const typename Kernel::Record *records,
                      int64_t count, const State &state, int head) {
  const int64_t tokens = count * Tokens;
  auto *weights = static_cast<double *>(malloc(tokens * sizeof(double)));
  double sum = 0;
  for (int64_t t = 0; t < tokens; ++t) {
    double dot = 0;
    for (int d = 0; d < Dim; ++d)
      dot += static_cast<double>(q[d]) *
             Kernel::key(records[t / Tokens], t % Tokens, d);
    weights[t] = exp2(dot);
    sum += weights[t];
  }
  double off = 0, size = 0;
  for (int d = 0; d < Dim; ++d) {
    double out = 0, magnitude = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      const double x = Kernel::value(records[t / Tokens], t % Tokens, d);
      out += weights[t] / sum * x;
      magnitude += weights[t] / sum * fabs(x);
    }
    off = fmax(off, fabs(out - state.out[head][d] / state.sum[head]));
    size = fmax(size, magnitude);
  }
  free(weights);
  return off / size;
}

using Function = void (*)(const float (&)[Group][Dim], const void *, int64_t,
                          State &);

template <typename Kernel>
static bool run(const char *name, Function attend, int64_t count, bool checks) {
  using Record = typename Kernel::Record;
  auto *records =
      static_cast<Record *>(aligned_alloc(64, count * sizeof(Record)));
  alignas(16) float q[Group][Dim];
  for (auto &head : q)
    for (float &x : head)
      x = random(-2, 2) * Log2E / sqrtf(Dim);
  for (int64_t i = 0; i < count; ++i)
    fill(records[i]);
  State state;
  state.clear();
  attend(q, records, count, state);
  printf("%-6s %8zu bytes a record", name, sizeof(Record));
  bool right = true;
  if (checks) {
    double most = 0;
    for (int head = 0; head < Group; ++head)
      most = fmax(most, errorOf<Kernel>(q[head], records, count, state, head));
    right = most <= Kernel::Bound;
    printf(", error %.1e, at most %.0e: %s", most, Kernel::Bound,
           right ? "right" : "WRONG");
  }
  printf("\n");
  free(records);
  return right;
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  const bool checks = !strcmp(kind, "check");
  const int64_t count = checks ? 9 : argc > 2 ? atoll(argv[2]) : 0;
  bool right = true, known = false;
  auto each = [&]<typename Kernel>(Kernel, const char *name, auto *attend) {
    if (!checks && strcmp(kind, name))
      return;
    known = true;
    right &=
        run<Kernel>(name, reinterpret_cast<Function>(attend), count, checks);
  };
  if (count > 0) {
    each(Floats(), "f16", by_hand_f16);
    each(Int8(), "int8", by_hand_int8);
    each(Int4(), "int4", by_hand_int4);
    each(Int2(), "int2", by_hand_int2);
  }
  if (!known) {
    fprintf(stderr, "usage: neon-yardstick check | f16|int8|int4|int2 N\n");
    return 2;
  }
  return right ? 0 : 1;
}
