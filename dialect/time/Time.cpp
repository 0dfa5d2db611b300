//===- Time.cpp - the points of the time axis -----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

namespace kvc::kv {

mlir::Attribute makeTime(mlir::MLIRContext *context,
                         const TimeRequest &request) {
  for (auto *make : {&AllAttr::fromRequest, &WindowAttr::fromRequest})
    if (mlir::Attribute point = make(context, request))
      return point;
  return {};
}

} // namespace kvc::kv
