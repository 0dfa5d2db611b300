//===- Angles.cpp - cosines and sines of rotary angles ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Method. The angle is brought to [-pi/4, pi/4] by subtracting a multiple n of
// pi/2, with pi/2 as a sum of three doubles (Cody and Waite, "Software Manual
// for the Elementary Functions", 1980). Each product n * part is kept exactly,
// as a sum of two doubles (Veltkamp's and Dekker's product, Numer. Math. 18,
// 1971), and the seven terms are summed as in three-fold precision
// (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput.
// 26(6), 2005, algorithm SumK). What pi/2 lacks is below 2^-163: for n < 2^50
// an error below 2^-113, where no double up to 2^50 comes nearer than 2^-62 to
// a multiple of pi/2.
//
// Sine and cosine are Taylor's series on the reduced angle as a sum of two
// doubles; the first three terms are added in that precision, the rest, below
// 5e-4 of the result, in double. The remainder left out is below 2^-71.
//
// Vectors of angles go through the same operations, so the code has no
// branches and is inlined whole. None of it bears contraction into fused
// operations, hence the pragma; compilers that do not know it get
// -ffp-contract=off.
//
//===----------------------------------------------------------------------===//

#include "runtime/Angles.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static_assert(__FLT_EVAL_METHOD__ == 0, "double arithmetic must be just that");

namespace kvc::runtime {

namespace {

/// The unevaluated sum of two doubles, |low| <= ulp(high) / 2.
struct Double2 {
  double high, low;
};

/// a + b exactly (Knuth).
[[gnu::always_inline]] inline Double2 twoSum(double a, double b) {
  double sum = a + b;
  double fromB = sum - a;
  return {sum, (a - (sum - fromB)) + (b - fromB)};
}

/// a + b exactly where |a| >= |b| or a == 0 (Dekker).
[[gnu::always_inline]] inline Double2 fastTwoSum(double a, double b) {
  double sum = a + b;
  return {sum, b - (sum - a)};
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)

/// a * b exactly.
[[gnu::always_inline]] inline Double2 twoProduct(double a, double b) {
  double product = a * b;
  return {product, __builtin_fma(a, b, -product)};
}

#else // The same numbers; a call of the math library's fma is not to be had.

/// a as two numbers of 26 bits each (Veltkamp).
[[gnu::always_inline]] inline Double2 split(double a) {
  double scaled = a * 0x1.0000002p27; // 2^27 + 1
  double high = scaled - (scaled - a);
  return {high, a - high};
}

/// a * b exactly (Dekker).
[[gnu::always_inline]] inline Double2 twoProduct(double a, double b) {
  double product = a * b;
  Double2 x = split(a), y = split(b);
  double error = x.high * y.high - product;
  error += x.high * y.low;
  error += x.low * y.high;
  return {product, error + x.low * y.low};
}

#endif

[[gnu::always_inline]] inline Double2 add(Double2 a, Double2 b) {
  Double2 sum = twoSum(a.high, b.high);
  return fastTwoSum(sum.high, sum.low + (a.low + b.low));
}

[[gnu::always_inline]] inline Double2 multiply(Double2 a, Double2 b) {
  Double2 product = twoProduct(a.high, b.high);
  return fastTwoSum(product.high,
                    product.low + (a.high * b.low + a.low * b.high));
}

constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
constexpr double piOver2[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                               -0x1.f1976b7ed8fbcp-110};

/// angle - quarters * pi/2.
[[gnu::always_inline]] inline Double2 reduce(double angle, double quarters) {
  constexpr int terms = 7;
  double sum[terms];
  sum[terms - 1] = angle;
  for (int part = 0; part < 3; ++part) {
    Double2 product = twoProduct(quarters, piOver2[part]);
    sum[5 - 2 * part] = -product.high;
    sum[4 - 2 * part] = -product.low;
  }
  // Twice: let the errors of the running sum take the terms' places.
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 1; i < terms; ++i) {
      Double2 running = twoSum(sum[i], sum[i - 1]);
      sum[i] = running.high;
      sum[i - 1] = running.low;
    }
  double low = sum[0];
  for (int i = 1; i < terms - 1; ++i)
    low += sum[i];
  return fastTwoSum(sum[terms - 1], low);
}

/// 1 + z * (first + z * (second + z * (rest[0] + z * ...)))
struct Series {
  Double2 first, second;
  double rest[8];
};

/// sin(x) / x with z = x * x: (-1)^k / (2 k + 1)!.
constexpr Series sineSeries = {{-0x1.5555555555555p-3, -0x1.5555555555555p-57},
                               {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                               {-0x1.a01a01a01a01ap-13, 0x1.71de3a556c734p-19,
                                -0x1.ae64567f544e4p-26, 0x1.6124613a86d09p-33,
                                -0x1.ae7f3e733b81fp-41, 0x1.952c77030ad4ap-49,
                                -0x1.2f49b46814157p-57, 0x1.71b8ef6dcf572p-66}};

/// cos(x) with z = x * x: (-1)^k / (2 k)!.
constexpr Series cosineSeries = {
    {-0.5, 0},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {-0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-16, -0x1.27e4fb7789f5cp-22,
     0x1.1eed8eff8d898p-29, -0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-45,
     -0x1.6827863b97d97p-53, 0x1.e542ba4020225p-62}};

[[gnu::always_inline]] inline Double2 evaluate(const Series &series,
                                               Double2 z) {
  double rest = series.rest[7];
  for (int i = 6; i >= 0; --i)
    rest = series.rest[i] + z.high * rest;
  Double2 value = add(series.second, twoProduct(z.high, rest));
  value = add(series.first, multiply(z, value));
  return add({1, 0}, multiply(z, value));
}

/// Without a branch, so that fillAngles runs on vectors.
[[gnu::always_inline]] inline void compute(double angle, double &cosine,
                                           double &sine) {
  // Adding 1.5 * 2^52 rounds to an integer, which then is the low bits.
  constexpr double rounder = 0x1.8p52;
  double rounded = angle * twoOverPi + rounder;
  uint64_t quarters;
  __builtin_memcpy(&quarters, &rounded, sizeof quarters);
  Double2 x = reduce(angle, rounded - rounder);
  Double2 z = multiply(x, x);
  double s = multiply(x, evaluate(sineSeries, z)).high;
  double c = evaluate(cosineSeries, z).high;
  bool odd = quarters & 1;
  double swappedCosine = odd ? s : c, swappedSine = odd ? c : s;
  cosine = (quarters + 1) & 2 ? -swappedCosine : swappedCosine;
  sine = quarters & 2 ? -swappedSine : swappedSine;
}

} // namespace

void cosineAndSine(double angle, double &cosine, double &sine) {
  compute(angle, cosine, sine);
}

void fillAngles(const kvc_gen_rope &rope, int64_t index, float *out) {
  double scale = static_cast<double>(index), factor = rope.factor;
  const double *frequency = rope.frequency;
  int64_t pairs = rope.pairs;
  float *__restrict cosines = out, *__restrict sines = out + pairs;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    double cosine, sine;
    compute(scale * frequency[pair], cosine, sine);
    cosines[pair] = static_cast<float>(cosine * factor);
    sines[pair] = static_cast<float>(sine * factor);
  }
}

bool AngleTables::open(const kvc_gen_model &model, const Allocator &itsMemory) {
  memory = &itsMemory;
  if (!model.ropes)
    return true;
  ropes = model.rope;
  // A step holds at most KVC_MAX_QUERIES + 1; more serve layers whose windows
  // or settings differ.
  int64_t wanted = 8 * model.ropes;
  count = wanted < 64 ? wanted : 64;
  int64_t pairs = 0;
  for (int64_t i = 0; i < model.ropes; ++i)
    if (model.rope[i].pairs > pairs)
      pairs = model.rope[i].pairs;
  int64_t floats = (2 * pairs + 15) / 16 * 16; // whole 64-byte lines
  entries = static_cast<Entry *>(memory->table(count, sizeof(Entry)));
  tables = memory->page(count * floats * sizeof(float));
  if (!entries || !tables)
    return false;
  for (int64_t i = 0; i < count; ++i)
    entries[i].table = static_cast<float *>(tables) + i * floats;
  return true;
}

void AngleTables::close() {
  if (memory) {
    memory->give(tables);
    memory->give(entries);
  }
  memory = nullptr;
  tables = nullptr;
  entries = nullptr;
  count = 0;
}

const float *AngleTables::get(int64_t rope, int64_t index) {
  Entry *oldest = entries;
  for (Entry *entry = entries; entry != entries + count; ++entry) {
    if (entry->lastUse && entry->rope == rope && entry->index == index) {
      entry->lastUse = ++uses;
      return entry->table;
    }
    if (entry->lastUse < oldest->lastUse)
      oldest = entry;
  }
  fillAngles(ropes[rope], index, oldest->table);
  oldest->rope = rope;
  oldest->index = index;
  oldest->lastUse = ++uses;
  return oldest->table;
}

} // namespace kvc::runtime
