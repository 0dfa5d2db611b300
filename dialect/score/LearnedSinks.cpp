//===- LearnedSinks.cpp - the score point: learned sinks ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

using namespace mlir;

namespace kvc::kv {

Attribute LearnedSinksAttr::fromRequest(MLIRContext *context,
                                        const ScoreRequest &request) {
  if (!request.learnedSinks)
    return {};
  return LearnedSinksAttr::get(context);
}

double LearnedSinksAttr::logit(double dot, ScoreAt) const { return dot; }

bool LearnedSinksAttr::startsWithLogit() const { return true; }

Value LearnedSinksAttr::buildLogit(OpBuilder &, Location, Value dot, ValueRange,
                                   Value) const {
  return dot;
}

} // namespace kvc::kv
