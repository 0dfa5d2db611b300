//===- AnglesTest.cpp - rotary tables against the math library --*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's sine and cosine in double, rounded to float, and ours must
// be the same floats. Argument: how many random angles (1000000).
//
//===----------------------------------------------------------------------===//

#include "runtime/Angles.h"
#include "Check.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

using namespace kvc;

namespace {

int64_t mismatches = 0;

void compare(double angle, double factor = 1) {
  double c, s;
  runtime::cosineAndSine(angle, c, s);
  // The sign of a zero counts too.
  auto same = [](double a, double b) {
    return std::bit_cast<uint32_t>(static_cast<float>(a)) ==
           std::bit_cast<uint32_t>(static_cast<float>(b));
  };
  if (same(c * factor, std::cos(angle) * factor) &&
      same(s * factor, std::sin(angle) * factor))
    return;
  if (++mismatches <= 10)
    std::cerr << std::hexfloat << angle << ": " << c << " " << s << ", not "
              << std::cos(angle) << " " << std::sin(angle) << "\n"
              << std::defaultfloat;
}

double frequency(std::mt19937_64 &random) {
  double theta = std::uniform_real_distribution<>(1e4, 5e5)(random);
  double dims = random() % 2 ? 128 : 64;
  double pair = static_cast<double>(random() % static_cast<uint64_t>(dims / 2));
  return 1 / std::pow(theta, 2 * pair / dims);
}

void randomAngles(int64_t count) {
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < count; ++i) {
    double index = static_cast<double>(random() % (100'000'000 + 1));
    compare(index * frequency(random));
  }
}

void hugeAngles(int64_t count) {
  std::mt19937_64 random(2);
  for (int64_t i = 0; i < count; ++i) {
    double index = static_cast<double>((int64_t{1} << 40) + random() % 1000000);
    compare(index * frequency(random), 1.1386294361119891);
    compare(static_cast<double>(random() >> 23)); // up to 2^41
    compare(static_cast<double>(random() >> 14)); // up to 2^50
  }
}

/// Doubles next to multiples of pi/4: borders of the quadrants and of the
/// reduction's rounding.
void borders() {
  constexpr long double piOver4 = 0.785398163397448309615660845819875721L;
  for (int64_t n = 0; n < 200'000; ++n) {
    int64_t multiple = n < 100'000 ? n : n * n * 37;
    double angle =
        static_cast<double>(static_cast<long double>(multiple) * piOver4);
    compare(angle);
    compare(std::nextafter(angle, 1e300));
    compare(std::nextafter(angle, 0));
    if (n)
      compare(-angle);
  }
}

void small() {
  compare(0);
  for (double angle = 1; angle > 1e-300; angle *= 0.37)
    compare(angle);
  // The doubles below 2^50 that come nearest to a multiple of pi/2.
  for (double angle :
       {0x1.6c6cbc45dc8dep+5, 0x1.6c6cbc45dc8dep+6, 0x1.b951f1572eba5p+23})
    compare(angle);
  double c, s;
  runtime::cosineAndSine(0, c, s);
  CHECK(c == 1 && s == 0 && !std::signbit(s));
}

/// Enough pairs for whole vectors and a rest.
void tables() {
  constexpr int64_t pairs = 67;
  double frequencies[pairs];
  for (int64_t i = 0; i < pairs; ++i)
    frequencies[i] = 1 / std::pow(1e4, static_cast<double>(i) / pairs);
  kvc_gen_rope rope = {pairs, 1.2079441541679836, frequencies};
  float table[2 * pairs];
  for (int64_t index : {int64_t{0}, int64_t{1}, int64_t{99'999'999},
                        (int64_t{1} << 40) + 12345}) {
    runtime::fillAngles(rope, index, table);
    for (int64_t i = 0; i < pairs; ++i) {
      double angle = static_cast<double>(index) * frequencies[i];
      CHECK_EQ(table[i], static_cast<float>(std::cos(angle) * rope.factor));
      CHECK_EQ(table[pairs + i],
               static_cast<float>(std::sin(angle) * rope.factor));
    }
  }
}

/// Tables that a step holds stay while it asks for others.
void sharedTables() {
  double frequencies[2] = {1, 0.5};
  kvc_gen_rope ropes[2] = {{1, 1, &frequencies[0]}, {1, 1, &frequencies[1]}};
  kvc_gen_model model = {};
  model.ropes = 2;
  model.rope = ropes;
  runtime::AngleTables shared = {};
  const runtime::Allocator platform = {};
  CHECK(shared.open(model, platform));
  const float *held[1 + KVC_MAX_QUERIES];
  for (int64_t step = 0; step < 100; ++step) {
    for (int64_t i = 0; i <= KVC_MAX_QUERIES; ++i)
      held[i] = shared.get(i % 2, 1000 * i + step);
    for (int64_t i = 0; i <= KVC_MAX_QUERIES; ++i) {
      double angle = static_cast<double>(1000 * i + step) * frequencies[i % 2];
      CHECK_EQ(held[i][0], static_cast<float>(std::cos(angle)));
      CHECK_EQ(held[i][1], static_cast<float>(std::sin(angle)));
      CHECK_EQ(shared.get(i % 2, 1000 * i + step), held[i]);
    }
  }
  shared.close();
}

} // namespace

int main(int count, char **arguments) {
  int64_t angles = count > 1 ? std::atoll(arguments[1]) : 1'000'000;
  randomAngles(angles);
  CHECK_EQ(mismatches, 0);
  hugeAngles(angles / 10);
  CHECK_EQ(mismatches, 0);
  borders();
  small();
  CHECK_EQ(mismatches, 0);
  tables();
  sharedTables();
  return test::checkResult();
}
