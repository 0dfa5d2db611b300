//===- Score.cpp - the points of the score axis ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

using namespace mlir;

namespace kvc::kv {

ArrayAttr makeScore(MLIRContext *context, const ScoreRequest &request) {
  SmallVector<Attribute> points;
  for (auto *make : {&PlainAttr::fromRequest, &SoftcapAttr::fromRequest,
                     &AlibiAttr::fromRequest, &LearnedSinksAttr::fromRequest})
    if (Attribute point = make(context, request))
      points.push_back(point);
  return ArrayAttr::get(context, points);
}

} // namespace kvc::kv
