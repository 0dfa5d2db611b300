//===- HeldPages.cpp - what a layer's pages should take -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/HeldPages.h"

#include "compiler/harness/Files.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialect/KVOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Generated.h"

using namespace llvm;

namespace kvc::harness {

HeldPages::HeldPages(kv::PolicyAttr policy, ArrayRef<kv::StreamAttr> streams,
                     int64_t piece)
    : policy(policy), streams(streams.begin(), streams.end()), piece(piece) {}

//===----------------------------------------------------------------------===//
// Which tokens a stream holds, and when
//===----------------------------------------------------------------------===//

HeldPages::Tokens HeldPages::join(Tokens a, Tokens b) {
  if (a.begin >= a.end)
    return b;
  if (b.begin >= b.end)
    return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// The tokens of `stream` that are stored at `length`.
HeldPages::Tokens HeldPages::holds(kv::StreamAttr stream,
                                   int64_t length) const {
  auto time = policy.getTime();
  const int64_t sinks = time.getSinks();
  if (stream.getKind() == "sink")
    return {0, std::min(length, sinks)};
  const int64_t first = time.firstLive(length);
  auto precision = policy.getPlane(stream.getPlane());
  if (!precision.keepsOriginals() ||
      (precision.remakesCodes() && stream.getKind() == "original"))
    return {first, length};
  const int64_t coded =
      sinks + precision.codedTokens(std::max<int64_t>(0, length - sinks));
  if (stream.getKind() == "code")
    return {first, coded};
  return {std::max(first, coded), length};
}

/// The same with what `rollback` keeps of earlier lengths.
HeldPages::Tokens HeldPages::keeps(kv::StreamAttr stream,
                                   int64_t length) const {
  Tokens now = holds(stream, length);
  const int64_t back =
      std::max<int64_t>(0, std::max(reached, length) - policy.getRollback());
  now.begin = std::min(now.begin, holds(stream, back).begin);
  return now;
}

/// The tokens whose pages `stream` needs at once while a sequence of length
/// `from` grows to `to`: nothing is freed before all of them have attended.
HeldPages::Tokens HeldPages::needs(kv::StreamAttr stream, int64_t from,
                                   int64_t to) const {
  Tokens all = join(keeps(stream, from), keeps(stream, to));
  for (int64_t length = from + 1; length <= to; ++length)
    all = join(all, holds(stream, length));
  // A token comes as an original, also where it is coded in its own step.
  if (stream.getKind() == "original")
    all = join(all, {std::max(from, stream.getOrigin()), to});
  return all;
}

int64_t HeldPages::pagesOf(const Stream &stream, Tokens tokens) {
  if (tokens.begin >= tokens.end)
    return 0;
  const int64_t origin = stream.attr.getOrigin();
  const int64_t page = stream.layout.layout.getTokens();
  return (tokens.end - 1 - origin) / page - (tokens.begin - origin) / page + 1;
}

void HeldPages::append(int64_t count) {
  for (; count > 0; count -= piece)
    appendPiece(std::min(count, piece));
}

void HeldPages::appendPiece(int64_t count) {
  for (Stream &stream : streams) {
    int64_t pages = pagesOf(stream, needs(stream.attr, seen, seen + count));
    // There must be room for a copy of each page that a fork has too.
    if (!exact)
      pages += pagesOf(stream, keeps(stream.attr, seen));
    stream.pages = std::max(stream.pages, pages);
  }
  seen += count;
  reached = std::max(reached, seen);
}

void HeldPages::appendEach(int64_t count) {
  if (count <= 0)
    return;
  for (Stream &stream : streams)
    raise(stream, seen, seen + count);
  seen += count;
  reached = std::max(reached, seen);
}

/// Raises the mark to what the steps from length `from` to `to` need.
void HeldPages::raise(Stream &stream, int64_t from, int64_t to) {
  if (to - from == 1) {
    stream.pages =
        std::max(stream.pages, pagesOf(stream, needs(stream.attr, from, to)));
    return;
  }
  // Neither end of what a stream holds ever falls, so that no step needs a page
  // outside of these.
  Tokens any = {keeps(stream.attr, from).begin, holds(stream.attr, to).end};
  if (stream.attr.getKind() == "original")
    any.end = std::max(any.end, to);
  if (pagesOf(stream, any) <= stream.pages)
    return;
  // Of a stream that only grows, the end says all.
  const int64_t middle = from + (to - from) / 2;
  raise(stream, middle, to);
  raise(stream, from, middle);
}

void HeldPages::truncate(int64_t tokens) {
  if (!policy || tokens >= seen)
    return;
  seen = tokens;
  reached = std::min(reached, tokens + policy.getRollback());
}

void HeldPages::reset() { seen = reached = 0; }

HeldPages HeldPages::fork() const {
  HeldPages copy = *this;
  for (Stream &stream : copy.streams)
    stream.pages = pagesOf(stream, keeps(stream.attr, seen));
  return copy;
}

void HeldPages::load(int64_t tokens) {
  exact = true;
  seen = tokens;
  reached = tokens + (policy ? policy.getRollback() : 0);
  for (Stream &stream : streams)
    stream.pages = pagesOf(stream, keeps(stream.attr, seen));
}

int64_t HeldPages::bytesOf(const Stream &stream, int64_t pages) {
  return (KVC_PAGE_HEADER + 4 * stream.layout.pageWords) * pages;
}

int64_t HeldPages::bytes() const {
  int64_t bytes = 0;
  for (const Stream &stream : streams)
    bytes += bytesOf(stream, stream.pages);
  return bytes;
}

int64_t HeldPages::inUse() const {
  int64_t bytes = 0;
  for (const Stream &stream : streams)
    bytes += bytesOf(stream, pagesOf(stream, keeps(stream.attr, seen)));
  return bytes;
}

//===----------------------------------------------------------------------===//
// What the compiler chose
//===----------------------------------------------------------------------===//

Expected<std::vector<HeldPages>> expectHeld(mlir::ModuleOp module,
                                            StringRef target) {
  CompileOptions options;
  options.target = target.str();
  options.stop = Stage::Steps;
  std::string why;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(),
      [&](mlir::Diagnostic &diagnostic) { why += diagnostic.str() + "\n"; });
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  if (failed(lowerModule(*copy, options)))
    return userError("what the library should hold cannot be found out: " +
                     StringRef(why).rtrim());

  std::vector<HeldPages> layers;
  for (kv::ModelOp model : copy->getOps<kv::ModelOp>())
    for (kv::LayerOp layer : model.getLayers()) {
      auto step = copy->lookupSymbol<kv::StepOp>(*layer.getStep());
      if (layer.getPolicy().getDepth().stores())
        layers.emplace_back(layer.getPolicy(), step.getStreamList(),
                            step.getSchedule()->getRows());
      else
        layers.emplace_back();
    }
  return layers;
}

} // namespace kvc::harness
