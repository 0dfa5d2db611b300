//===- Comparison.cpp - a library and the reference, step by step ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"

#include "compiler/harness/Files.h"
#include "compiler/harness/Tolerance.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cmath>

using namespace llvm;

namespace kvc::harness {

void Worst::join(const Worst &other) {
  out = std::max(out, other.out);
  lse = std::max(lse, other.lse);
  relative = std::max(relative, other.relative);
  rows += other.rows;
  stores += other.stores;
}

Expected<std::unique_ptr<Comparison>>
Comparison::create(const LoadedLibrary &library, mlir::ModuleOp module,
                   int64_t firstPosition, const LearnedSinks &sinks) {
  auto expected = reference::Reference::create(module, firstPosition, sinks);
  if (!expected)
    return expected.takeError();
  const reference::Reference &model = **expected;
  if (model.layers() != static_cast<int64_t>(library.layers().size()))
    return userError("the library has " + Twine(library.layers().size()) +
                     " layers, what it is held against has " +
                     Twine(model.layers()));
  for (int64_t i = 0; i < model.layers(); ++i) {
    const LayerShape &got = library.layers()[i];
    kv::ShapeAttr want = model.shape(i);
    if (got.heads != want.getHeads() || got.kvHeads != want.getKvHeads() ||
        got.headDim != want.getHeadDim() ||
        got.valueDim != want.getValueDim() || got.owner != model.owner(i) ||
        got.learnedSinks != reference::startsWithLogit(model.policy(i)))
      return userError("layer " + Twine(i) +
                       " of the library has another shape, owner or learned "
                       "sinks than what it is held against");
  }
  auto held = expectHeld(module, library.info().target);
  if (!held)
    return held.takeError();
  auto cache = library.create(firstPosition, sinks);
  if (!cache)
    return cache.takeError();
  return std::unique_ptr<Comparison>(
      new Comparison(library, sinks, std::move(*cache), std::move(*expected),
                     std::move(*held)));
}

bool Comparison::missed(int64_t layer, const Twine &what) {
  if (text.empty())
    text = ("layer " + Twine(layer) + ": " + what).str();
  return false;
}

bool Comparison::missed(const Twine &what) {
  if (text.empty())
    text = what.str();
  return false;
}

int64_t Comparison::nextPosition(int64_t layer) const {
  const reference::Store &store = expected->store(layer);
  return store.firstPosition() + store.seen() -
         (expected->stores(layer) ? 0 : 1);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool Comparison::step(int64_t layer, const TokenInput &input, bool compare) {
  const int64_t position = nextPosition(layer);
  Output got;
  const auto start = std::chrono::steady_clock::now();
  const kvc_status status = decode(
      library, actual, layer, {position, 1, input.q, input.k, input.v}, got);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  seconds.push_back(took.count());
  const kvc_status wanted = wantedOf(layer, 1);
  if (status != wanted)
    return missed(layer, "position " + Twine(position) + ": decode gives " +
                             library->status_name(status) + ", it should be " +
                             library->status_name(wanted) + ": " +
                             actual.lastError());
  if (status != KVC_OK)
    return compareStats(layer);
  held[layer].append(1);
  const reference::Attended want =
      expected->decode(layer, {input.q, input.k, input.v}, compare);
  return (!compare || compareRows(layer, position, got, want, library.io())) &&
         compareStats(layer);
}

bool Comparison::compareRows(int64_t layer, int64_t position, const Output &got,
                             const reference::Attended &want, Element type,
                             int64_t row, bool merged) {
  if (want.empty())
    return missed(layer, "the body that it is held against does not attend");
  for (int64_t head = 0; head < expected->shape(layer).getHeads(); ++head)
    if (!compareRow(layer, position, head, got, want, type, row + head, merged))
      return false;
  return true;
}

/// The error as a fraction of its bound; what is not finite exceeds any.
static double fraction(double got, double want, double bound) {
  if (got == want)
    return 0;
  const double error = std::fabs(got - want);
  return std::isfinite(got) ? error / bound : INFINITY;
}

bool Comparison::compareRow(int64_t layer, int64_t position, int64_t head,
                            const Output &got, const reference::Attended &want,
                            Element type, int64_t row, bool merged) {
  kv::ShapeAttr shape = expected->shape(layer);
  kv::PolicyAttr policy = expected->policy(layer);
  Tolerance tolerance(want, head, shape.getHeadDim(), type,
                      policy.getArithmetic(), isRandom);
  if (merged && llvm::any_of(policy.getScore(), [](mlir::Attribute point) {
        return cast<kv::ScoreAttrInterface>(point).getSteepestFall() > 0;
      }))
    tolerance.allowMerging(want, head);
  auto where = [&](const std::string &what, double got, double want,
                   double bound) {
    return missed(layer, formatv("head {0}, position {1}: {2} is {3:e8}, the "
                                 "reference has {4:e8}; they differ by {5:e3}, "
                                 "the bound is {6:e3}",
                                 head, position, what, got, want,
                                 std::fabs(got - want), bound));
  };
  ++largest.rows;
  const int64_t dim = shape.getValueDim();
  for (int64_t d = 0; d < dim; ++d) {
    const double a = got.out[row * dim + d];
    const double b = tolerance.wanted(want.out[head * dim + d]);
    const double ratio = fraction(a, b, tolerance.out(b));
    if (!(ratio <= 1))
      return where("out[" + std::to_string(d) + "]", a, b, tolerance.out(b));
    largest.out = std::max(largest.out, ratio);
    if (tolerance.unit() > 0)
      largest.relative =
          std::max(largest.relative, std::fabs(a - b) / tolerance.unit());
  }
  const double a = got.lse[row], b = want.lse[head];
  const double ratio = fraction(a, b, tolerance.lse(b));
  if (!(ratio <= 1))
    return where("lse", a, b, tolerance.lse(b));
  largest.lse = std::max(largest.lse, ratio);
  return true;
}

} // namespace kvc::harness
