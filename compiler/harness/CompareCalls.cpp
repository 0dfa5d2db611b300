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
kvc_status Comparison::wantedOf(int64_t layer, int64_t count,
                                int64_t behind) const {
  if (expected->stores(layer))
    return KVC_OK;
  const reference::Store &store = expected->store(layer);
  const int64_t last = store.seen() - behind;
  for (int64_t length = last - count + 1; length <= last; ++length)
    if (!store.isHeld(length))
      return KVC_GONE;
  return KVC_OK;
}

bool Comparison::compareChunk(int64_t layer, const Item &item, bool attends,
                              const char *function, kvc_status status,
                              const Output &got) {
  const auto count = static_cast<int64_t>(item.inputs.size());
  const bool owns = expected->stores(layer);
  const int64_t position = positionOf(layer, count, item.behind);
  const kvc_status wanted = wantedOf(layer, count, item.behind);
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
    const TokenInput &input = item.inputs[i];
    const reference::Attended want =
        expected->decode(layer, {input.q, input.k, input.v}, attends,
                         owns ? 0 : item.behind + count - 1 - i);
    if (attends && !compareRows(layer, position + i, got, want, library.io(),
                                i * expected->shape(layer).getHeads()))
      return false;
  }
  return compareStats(layer);
}

bool Comparison::chunk(int64_t layer, ArrayRef<TokenInput> inputs, bool attends,
                       int64_t behind) {
  const int64_t position =
      positionOf(layer, static_cast<int64_t>(inputs.size()), behind);
  const Tokens tokens = tokensOf(position, inputs, attends);
  Output got;
  const kvc_status status = attends
                                ? prefill(library, actual, layer, tokens, got)
                                : append(library, actual, layer, tokens);
  return compareChunk(layer, {this, inputs, behind}, attends,
                      attends ? "prefill" : "append", status, got);
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
    const int64_t position = item.both->positionOf(
        layer, static_cast<int64_t>(item.inputs.size()), item.behind);
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
    if (!item.both->compareChunk(layer, item, attends, name, status,
                                 buffer.output()))
      return false;
  return true;
}

bool Comparison::comparePart(int64_t layer, const Part &part, kvc_status status,
                             const Output &got) {
  const reference::Store &store = expected->store(layer);
  const int64_t first = store.firstPosition();
  const auto count = static_cast<int64_t>(part.inputs.size());
  kvc_status wanted = KVC_OK;
  for (int64_t i = 0; i < count; ++i)
    if (!store.isHeld(part.position - first + 1 + i, part.from, part.to))
      wanted = KVC_GONE;
  if (status != wanted)
    return missed(
        layer,
        formatv("attend of {0} queries from position {1} over [{2}, {3}), "
                "newest {4}, longest {5}, gives {6}, it should be {7}: {8}",
                count, part.position, first + part.from, first + part.to,
                first + store.seen() - 1, first + store.reached() - 1,
                library->status_name(status), library->status_name(wanted),
                actual.lastError()));
  for (int64_t i = 0; status == KVC_OK && i < count; ++i) {
    const reference::Attended want = reference::attend(
        store, expected->policy(layer), expected->shape(layer),
        part.position + i, part.inputs[i].q,
        part.withSinks ? expected->sinks(layer) : ArrayRef<float>(), part.from,
        part.to);
    if (!compareRows(layer, part.position + i, got, want, Element::F32,
                     i * expected->shape(layer).getHeads()))
      return false;
  }
  return true;
}

bool Comparison::parts(int64_t layer, ArrayRef<Part> asked,
                       std::vector<Output> *got) {
  const LoadedLibrary &library = asked.front().both->library;
  std::vector<CallBuffers> buffers;
  for (const Part &part : asked) {
    Tokens tokens = tokensOf(part.position, part.inputs, /*attends=*/true);
    tokens.k.clear();
    tokens.v.clear();
    buffers.emplace_back(library, layer, tokens);
  }
  std::vector<kvc_query> calls;
  for (auto [part, buffer] : zip(asked, buffers)) {
    const int64_t first = part.both->expected->store(layer).firstPosition();
    calls.push_back(buffer.query(part.both->actual.get(), first + part.from,
                                 first + part.to, part.withSinks));
  }
  std::vector<kvc_status> statuses;
  callTogether(library->attend, "attend", layer, std::move(calls), statuses);
  for (auto [part, buffer, status] : zip(asked, buffers, statuses)) {
    const Output output = status == KVC_OK ? buffer.partOutput() : Output();
    if (!part.both->comparePart(layer, part, status, output))
      return false;
    if (got)
      got->push_back(output);
  }
  return true;
}

bool Comparison::query(int64_t layer, int64_t position,
                       ArrayRef<TokenInput> inputs, ArrayRef<int64_t> cuts) {
  std::vector<Output> given;
  int64_t from = 0;
  SmallVector<int64_t> ends(cuts);
  ends.push_back(INT64_C(1) << 41);
  bool whole = true;
  for (int64_t to : ends) {
    // Learned sinks belong to one of the parts.
    const bool withSinks = given.empty() && !expected->sinks(layer).empty();
    if (!parts(layer, {{this, position, inputs, from, to, withSinks}}, &given))
      return false;
    whole = whole && !given.back().lse.empty();
    from = to;
  }
  if (!whole)
    return true; // some of it is gone
  const auto count = static_cast<int64_t>(inputs.size());
  Output got;
  if (kvc_status status = merge(library, layer, count, given, got))
    return missed(layer, Twine("merge fails: ") + library->status_name(status));
  for (int64_t i = 0; i < count; ++i) {
    const reference::Attended want = reference::attend(
        expected->store(layer), expected->policy(layer), expected->shape(layer),
        position + i, inputs[i].q, expected->sinks(layer));
    if (!compareRows(layer, position + i, got, want, library.io(),
                     i * expected->shape(layer).getHeads(),
                     /*merged=*/given.size() > 1))
      return false;
  }
  return true;
}

} // namespace kvc::harness
