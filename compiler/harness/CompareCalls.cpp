//===- CompareCalls.cpp - chunks and queries against the reference --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kvc::harness {

static Tokens tokensOf(int64_t position, ArrayRef<TokenInput> inputs,
                       bool attends) {
  Tokens tokens;
  tokens.position = position;
  tokens.count = static_cast<int64_t>(inputs.size());
  auto add = [](std::vector<float> &to, const std::vector<float> &from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const TokenInput &input : inputs) {
    if (attends)
      add(tokens.q, input.q);
    add(tokens.k, input.k);
    add(tokens.v, input.v);
  }
  return tokens;
}

bool Comparison::chunk(int64_t layer, ArrayRef<TokenInput> inputs,
                       bool attends) {
  const reference::Store &store = expected->store(layer);
  const auto count = static_cast<int64_t>(inputs.size());
  const bool owns = expected->stores(layer);
  const int64_t position =
      store.firstPosition() + store.seen() - (owns ? 0 : count);
  const Tokens tokens = tokensOf(position, inputs, attends);
  Output got;
  const kvc_status status = attends
                                ? prefill(library, actual, layer, tokens, got)
                                : append(library, actual, layer, tokens);
  if (status != KVC_OK)
    return missed(layer,
                  formatv("{0} of {1} tokens from position {2} fails: {3}: {4}",
                          attends ? "prefill" : "append", count, position,
                          library->status_name(status), actual.lastError()));
  if (owns)
    held[layer].append(count);
  for (int64_t i = 0; i < count; ++i) {
    const TokenInput &input = inputs[i];
    reference::Attended want = expected->decode(
        layer, {input.q, input.k, input.v}, attends, owns ? 0 : count - 1 - i);
    if (attends && !compareRows(layer, position + i, got, want, library.io(),
                                i * expected->shape(layer).getHeads()))
      return false;
  }
  return compareStats(layer);
}

bool Comparison::comparePart(int64_t layer, const Tokens &query, int64_t from,
                             int64_t to, bool withSinks, Output &got) {
  const reference::Store &store = expected->store(layer);
  const int64_t first = store.firstPosition();
  const kvc_status status = attend(library, actual, layer, query, first + from,
                                   first + to, withSinks, got);
  const int64_t newest = first + store.seen() - 1;
  if (status == KVC_GONE &&
      query.position < newest - expected->policy(layer).getRollback()) {
    got = {};
    return true;
  }
  if (status != KVC_OK)
    return missed(layer,
                  formatv("attend at position {0} over [{1}, {2}), "
                          "newest {3}, fails: {4}: {5}",
                          query.position, first + from, first + to, newest,
                          library->status_name(status), actual.lastError()));
  const reference::Attended want = reference::attend(
      store, expected->policy(layer), expected->shape(layer), query.position,
      query.q, withSinks ? expected->sinks(layer) : ArrayRef<float>(), from,
      to);
  return compareRows(layer, query.position, got, want, Element::F32);
}

bool Comparison::query(int64_t layer, int64_t position, const TokenInput &input,
                       ArrayRef<int64_t> cuts) {
  const Tokens query{position, 1, input.q, {}, {}};
  std::vector<Output> parts;
  int64_t from = 0;
  SmallVector<int64_t> ends(cuts);
  ends.push_back(INT64_C(1) << 41);
  for (int64_t to : ends) {
    // Learned sinks belong to one of the parts.
    const bool withSinks = parts.empty() && !expected->sinks(layer).empty();
    if (!comparePart(layer, query, from, to, withSinks, parts.emplace_back()))
      return false;
    if (parts.back().lse.empty())
      return true; // gone
    from = to;
  }
  Output got;
  if (kvc_status status = merge(library, layer, 1, parts, got))
    return missed(layer, Twine("merge fails: ") + library->status_name(status));
  const reference::Attended want = reference::attend(
      expected->store(layer), expected->policy(layer), expected->shape(layer),
      position, input.q, expected->sinks(layer));
  return compareRows(layer, position, got, want, library.io());
}

} // namespace kvc::harness
