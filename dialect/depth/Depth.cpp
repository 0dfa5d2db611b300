//===- Depth.cpp - the points of the depth axis ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

namespace kvc::kv {

mlir::Attribute makeDepth(mlir::MLIRContext *context,
                          const DepthRequest &request) {
  for (auto *make : {&OwnAttr::fromRequest, &ShareAttr::fromRequest})
    if (mlir::Attribute point = make(context, request))
      return point;
  return {};
}

} // namespace kvc::kv
