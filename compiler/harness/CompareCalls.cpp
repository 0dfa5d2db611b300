//===- CompareCalls.cpp - chunks and queries against the reference --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Crash.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kvc::harness {

Tokens tokensOf(int64_t position, ArrayRef<TokenInput> inputs, bool attends) {
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

/// A reader's queries may ask for what its owner has no more: after a chunk of
/// the owner's, or a truncate beyond rollback.
kvc_status Comparison::wantedOf(int64_t layer, int64_t count) const {
  if (expected->stores(layer))
    return KVC_OK;
  const reference::Store &store = expected->store(layer);
  for (int64_t length = store.seen() - count + 1; length <= store.seen();
       ++length)
    if (!store.isHeld(length))
      return KVC_GONE;
  return KVC_OK;
}

bool Comparison::compareChunk(int64_t layer, ArrayRef<TokenInput> inputs,
                              bool attends, const char *function,
                              kvc_status status, const Output &got) {
  const auto count = static_cast<int64_t>(inputs.size());
  const bool owns = expected->stores(layer);
  const int64_t position = nextPosition(layer) + (owns ? 0 : 1 - count);
  const kvc_status wanted = wantedOf(layer, count);
  if (status != wanted)
    return missed(
        layer, formatv("{0} of {1} tokens from position {2} gives {3}, it "
                       "should be {4}: {5}",
                       function, count, position, library->status_name(status),
                       library->status_name(wanted), actual.lastError()));
  if (status != KVC_OK)
    return compareStats(layer);
  if (owns)
    held[layer].append(count);
  for (int64_t i = 0; i < count; ++i) {
    const TokenInput &input = inputs[i];
    const reference::Attended want = expected->decode(
        layer, {input.q, input.k, input.v}, attends, owns ? 0 : count - 1 - i);
    if (attends && !compareRows(layer, position + i, got, want, library.io(),
                                i * expected->shape(layer).getHeads()))
      return false;
  }
  return compareStats(layer);
}

bool Comparison::chunk(int64_t layer, ArrayRef<TokenInput> inputs,
                       bool attends) {
  const auto count = static_cast<int64_t>(inputs.size());
  const int64_t position =
      nextPosition(layer) + (expected->stores(layer) ? 0 : 1 - count);
  const Tokens tokens = tokensOf(position, inputs, attends);
  Output got;
  const kvc_status status = attends
                                ? prefill(library, actual, layer, tokens, got)
                                : append(library, actual, layer, tokens);
  return compareChunk(layer, inputs, attends, attends ? "prefill" : "append",
                      status, got);
}

/// The items of one call, as the library has them.
template <typename Item>
static void callTogether(kvc_status (*function)(Item *, size_t),
                         const char *name, int64_t layer,
                         std::vector<Item> items,
                         std::vector<kvc_status> &statuses) {
  LibraryCall(name, layer).run(function, items.data(), items.size());
  for (const Item &item : items)
    statuses.push_back(item.status);
}

bool Comparison::chunks(int64_t layer, ArrayRef<Item> items, bool attends) {
  const LoadedLibrary &library = items.front().both->library;
  const bool steps = attends && all_of(items, [](const Item &item) {
                       return item.inputs.size() == 1;
                     });
  std::vector<CallBuffers> buffers;
  for (const Item &item : items) {
    const auto count = static_cast<int64_t>(item.inputs.size());
    const bool owns = item.both->expected->stores(layer);
    const int64_t position =
        item.both->nextPosition(layer) + (owns ? 0 : 1 - count);
    buffers.emplace_back(library, layer,
                         tokensOf(position, item.inputs, attends));
  }
  std::vector<kvc_status> statuses;
  const char *name = steps ? "decode" : attends ? "prefill" : "append";
  if (steps) {
    std::vector<kvc_step> calls;
    for (auto [item, buffer] : zip(items, buffers))
      calls.push_back(buffer.step(item.both->actual.get()));
    callTogether(library->decode, name, layer, std::move(calls), statuses);
  } else {
    std::vector<kvc_chunk> calls;
    for (auto [item, buffer] : zip(items, buffers))
      calls.push_back(buffer.chunk(item.both->actual.get(), attends));
    callTogether(attends ? library->prefill : library->append, name, layer,
                 std::move(calls), statuses);
  }
  for (auto [item, buffer, status] : zip(items, buffers, statuses))
    if (!item.both->compareChunk(layer, item.inputs, attends, name, status,
                                 buffer.output()))
      return false;
  return true;
}

bool Comparison::comparePart(int64_t layer, const Tokens &query, int64_t from,
                             int64_t to, bool withSinks, Output &got) {
  const reference::Store &store = expected->store(layer);
  const int64_t first = store.firstPosition();
  const kvc_status status = attend(library, actual, layer, query, first + from,
                                   first + to, withSinks, got);
  const int64_t length = query.position - first + 1;
  const kvc_status wanted = store.isHeld(length, from, to) ? KVC_OK : KVC_GONE;
  if (status != wanted)
    return missed(layer,
                  formatv("attend at position {0} over [{1}, {2}), newest {3}, "
                          "longest {4}, gives {5}, it should be {6}: {7}",
                          query.position, first + from, first + to,
                          first + store.seen() - 1, first + store.reached() - 1,
                          library->status_name(status),
                          library->status_name(wanted), actual.lastError()));
  if (status != KVC_OK) {
    got = {};
    return true;
  }
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
