//===- Position.cpp - the points of the position axis ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

namespace kvc::kv {

mlir::Attribute makePosition(mlir::MLIRContext *context,
                             const PositionRequest &request) {
  for (auto *make : {&UnrotatedAttr::fromRequest, &AbsoluteAttr::fromRequest,
                     &InCacheAttr::fromRequest})
    if (mlir::Attribute point = make(context, request))
      return point;
  return {};
}

} // namespace kvc::kv
