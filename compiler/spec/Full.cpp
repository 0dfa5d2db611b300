//===- Full.cpp - the model of a spec with a full cache -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Resolve.h"

using namespace kvc::spec;

Spec kvc::spec::withFullCache(const Spec &spec, int64_t tokens) {
  Spec full;
  full.file = spec.file;
  full.name = "full";
  full.io = spec.io;
  for (const Layer &layer : spec.layers) {
    // A layer's own values are the defaults of the cache's keys.
    Layer &copy = full.layers.emplace_back();
    copy.heads = layer.heads;
    copy.kvHeads = layer.kvHeads;
    copy.headDim = layer.headDim;
    copy.valueDim = layer.valueDim;
    copy.scale = layer.scale;
    copy.softcap = layer.softcap;
    copy.learnedSinks = layer.learnedSinks;
    copy.alibi = layer.alibi;
    copy.alibiSlopes = layer.alibiSlopes;
    copy.rope = layer.rope;
    copy.share = layer.share;
    copy.at = layer.at;
    copy.context = tokens;
  }
  settleUnfelt(full.layers, full.io);
  full.canonical = canonicalText(full);
  return full;
}
