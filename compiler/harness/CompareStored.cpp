//===- CompareStored.cpp - what a library holds against the reference -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Crash.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace kvc::harness {

bool Comparison::compareStored(int64_t layer) {
  if (!compareStats(layer))
    return false;
  if (!expected->stores(layer))
    return true;
  ++largest.stores;
  const int64_t stored = expected->store(layer).stored();
  int64_t got = -1;
  if (LibraryCall("stored", layer)
          .run(library->stored, actual.get(), static_cast<int32_t>(layer),
               &got) ||
      got != stored)
    return missed(layer, "stored() gives " + Twine(got) +
                             ", the reference stores " + Twine(stored));
  // All of it, and a part that begins and ends anywhere.
  return compareRead(layer, 0, stored) &&
         compareRead(layer, stored / 3, stored - stored / 5);
}

bool Comparison::compareStats(int64_t layer) {
  kvc_stats got = {};
  got.size = sizeof got;
  if (LibraryCall("stats", layer)
          .run(library->stats, actual.get(), static_cast<int32_t>(layer), &got))
    return missed(layer, Twine("stats fail: ") + actual.lastError());
  const reference::Store &store = expected->store(layer);
  const bool owns = expected->stores(layer);
  const std::pair<const char *, std::pair<int64_t, int64_t>> counts[] = {
      {"seen", {got.seen, expected->seen(layer)}},
      {"stored", {got.stored, owns ? store.stored() : 0}},
      {"evicted", {got.evicted, owns ? store.evicted() : 0}},
      {"saturated", {got.saturated, owns ? store.saturated() : 0}}};
  for (auto [name, values] : counts)
    if (values.first != values.second)
      return missed(layer,
                    formatv("at length {0}: {1} is {2} in stats, {3} in "
                            "the reference",
                            store.seen(), name, values.first, values.second));
  if (!compareBytes(layer, got.used, store.reached(), "stats"))
    return false;
  if (!compareHeld(layer, got))
    return false;
  kvc_bytes plan = {};
  if (LibraryCall("plan", layer)
          .run(library->plan, static_cast<int32_t>(layer), store.seen(), &plan))
    return missed(layer, "plan fails");
  return compareBytes(layer, plan, store.seen(), "plan");
}

bool Comparison::compareHeld(int64_t layer, const kvc_stats &got) {
  const reference::Store &store = expected->store(layer);
  const int64_t seen = store.seen();
  const HeldPages &pages = held[layer];
  const int64_t most = pages.bytes();
  if (pages.isExact() && got.held != most)
    return missed(layer,
                  formatv("at length {0}: {1} bytes are held in pages, at the "
                          "high-water mark it should be {2}",
                          seen, got.held, most));
  if (got.held < pages.inUse() || got.held > most)
    return missed(layer,
                  formatv("at length {0}: {1} bytes are held in pages, tokens "
                          "are in {2}, and were at most in {3}",
                          seen, got.held, pages.inUse(), most));
  const int64_t mostShared = relatives() > 1 ? pages.inUse() : 0;
  if (got.shared < 0 || got.shared > mostShared)
    return missed(layer, formatv("at length {0}: {1} bytes are shared, at most "
                                 "{2} could be",
                                 seen, got.shared, mostShared));
  const int64_t used =
      reference::planBytes(expected->policy(layer), expected->shape(layer),
                           seen, store.reached())
          .total();
  if (got.used.padding != got.held - used)
    return missed(layer,
                  formatv("at length {0}: {1} bytes are padding, where {2} are "
                          "held and {3} used",
                          seen, got.used.padding, got.held, used));
  return true;
}

bool Comparison::compareBytes(int64_t layer, const kvc_bytes &got,
                              int64_t reached, StringRef from) {
  const int64_t seen = expected->store(layer).seen();
  const reference::BytePlan want = reference::planBytes(
      expected->policy(layer), expected->shape(layer), seen, reached);
  const std::pair<const char *, std::pair<int64_t, int64_t>> lines[] = {
      {"codes", {got.codes, want.codes}},
      {"scales", {got.scales, want.scales}},
      {"residual", {got.residual, want.residual}},
      {"sinks", {got.sinks, want.sinks}},
      {"originals", {got.originals, want.originals}},
      {"rollback", {got.rollback, want.rollback}}};
  for (auto [name, bytes] : lines)
    if (bytes.first != bytes.second)
      return missed(layer,
                    formatv("at length {0}: {1} bytes of {2} in {3}, "
                            "{4} in the reference",
                            seen, bytes.first, name, from, bytes.second));
  return true;
}

bool Comparison::compareRead(int64_t layer, int64_t from, int64_t to) {
  kv::ShapeAttr shape = expected->shape(layer);
  const int64_t count = to - from;
  std::vector<float> keys(shape.getKvHeads() * count * shape.getHeadDim());
  std::vector<float> values(shape.getKvHeads() * count * shape.getValueDim());
  std::vector<int64_t> positions(count);
  if (LibraryCall("read", layer)
          .run(library->read, actual.get(), static_cast<int32_t>(layer), from,
               to, keys.data(), values.data(), positions.data()))
    return missed(layer, Twine("read fails: ") + actual.lastError());
  const reference::Store &store = expected->store(layer);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t want =
        store.firstPosition() + store.getTokens()[from + i].index;
    if (positions[i] != want)
      return missed(layer, formatv("at length {0}: stored token {1} has "
                                   "position {2}, in the reference {3}",
                                   store.seen(), from + i, positions[i], want));
  }
  return compareValues(layer, kv::Plane::Keys, from, to, keys) &&
         compareValues(layer, kv::Plane::Values, from, to, values);
}

bool Comparison::compareValues(int64_t layer, kv::Plane plane, int64_t from,
                               int64_t to, ArrayRef<float> got) {
  kv::ShapeAttr shape = expected->shape(layer);
  const reference::Store &store = expected->store(layer);
  const int64_t dim = shape.getDim(plane), count = to - from;
  for (int64_t i = 0; i < count; ++i) {
    const reference::Token &token = store.getTokens()[from + i];
    const reference::PlaneToken &want =
        token.planes[static_cast<size_t>(plane)];
    for (int64_t head = 0; head < shape.getKvHeads(); ++head)
      for (int64_t d = 0; d < dim; ++d) {
        const float a = got[(head * count + i) * dim + d];
        const float b = want.read[head * dim + d];
        if (bit_cast<uint32_t>(a) != bit_cast<uint32_t>(b))
          return missed(
              layer,
              formatv("at length {0}: {1} of position {2}, kv head {3}, "
                      "channel {4} is {5:e9}, the reference has {6:e9} ({7})",
                      store.seen(), plane == kv::Plane::Keys ? "key" : "value",
                      store.firstPosition() + token.index, head, d, a, b,
                      want.coded ? "coded" : "as appended"));
      }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What must be refused
//===----------------------------------------------------------------------===//

bool Comparison::refused(int64_t layer, int64_t position,
                         const TokenInput &input, kvc_status want,
                         StringRef what) {
  Output output;
  const kvc_status got = decode(
      library, actual, layer, {position, 1, input.q, input.k, input.v}, output);
  if (got != want)
    return missed(layer, formatv("{0} gives {1}, it should be {2}", what,
                                 library->status_name(got),
                                 library->status_name(want)));
  if (StringRef(actual.lastError()).empty())
    return missed(layer, what + " leaves no error text");
  return true;
}

/// No tokens at a wrong position.
bool Comparison::refusesNone(int64_t layer, int64_t position) {
  Output output;
  const kvc_status got =
      prefill(library, actual, layer, {position, 0, {}, {}, {}}, output);
  if (got != KVC_ORDER)
    return missed(layer, formatv("prefill of no tokens at position {0} gives "
                                 "{1}, it should be {2}",
                                 position, library->status_name(got),
                                 library->status_name(KVC_ORDER)));
  return true;
}

bool Comparison::compareErrors(int64_t layer, const TokenInput &input) {
  const int64_t next = nextPosition(layer);
  // A reader may have left queries out, but has been where it has been.
  const int64_t before =
      expected->stores(layer)
          ? next - 1
          : expected->store(layer).firstPosition() + expected->seen(layer) - 2;
  for (int64_t wrong : {before, next + 1, next + (int64_t{1} << 33)})
    if (!refused(layer, wrong, input, KVC_ORDER, "a wrong position"))
      return false;
  // What comes next is right for none, of readers too.
  for (int64_t wrong : {before, next + 2, next + (int64_t{1} << 33)})
    if (!refusesNone(layer, wrong))
      return false;
  // The least above 2^56 that io can say (f16 makes it infinite).
  const float above =
      library.io() == Element::F32 ? 0x1.000002p56f : 0x1.02p56f;
  const float bad[] = {NAN, INFINITY, -INFINITY, above, -0x1p57f};
  auto poison = [&](std::vector<float> TokenInput::*plane, StringRef what) {
    for (auto [number, value] : llvm::enumerate(bad)) {
      TokenInput copy = input;
      auto &values = copy.*plane;
      if (values.empty())
        return true;
      // At the front, at the end and within.
      const size_t places[] = {0, values.size() - 1, values.size() / 2};
      values[places[number % 3]] = value;
      if (!refused(layer, next, copy, KVC_NOT_FINITE, what))
        return false;
    }
    return true;
  };
  if (!poison(&TokenInput::q, "a bad number in q") ||
      !poison(&TokenInput::k, "a bad number in k") ||
      !poison(&TokenInput::v, "a bad number in v"))
    return false;
  TokenInput missing = input;
  missing.k.clear();
  if (expected->stores(layer) &&
      !refused(layer, next, missing, KVC_INVALID_ARGUMENT, "a null k"))
    return false;
  // A reader's call could have changed what its owner holds.
  return compareStored(layer) && compareStored(expected->owner(layer));
}

bool Comparison::compareFull(int64_t layer, const TokenInput &input) {
  auto limit = expected->policy(layer).getTime().getLimit();
  if (!limit || !expected->stores(layer) || expected->seen(layer) < *limit)
    return true;
  // What is not finite is said first.
  TokenInput bad = input;
  bad.v.back() = NAN;
  return refused(layer, nextPosition(layer), input, KVC_FULL,
                 "a token beyond the context") &&
         refused(layer, nextPosition(layer), bad, KVC_NOT_FINITE,
                 "a bad number beyond the context") &&
         compareStored(layer);
}

} // namespace kvc::harness
