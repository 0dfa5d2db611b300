//===- Precision.cpp - the points of the precision axis -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

namespace kvc::kv {

mlir::Attribute makePrecision(mlir::MLIRContext *context,
                              const PrecisionRequest &request) {
  for (auto *make :
       {&FloatPrecisionAttr::fromRequest, &AffineChannelAttr::fromRequest,
        &AffineTokenAttr::fromRequest, &AffineAllAttr::fromRequest})
    if (mlir::Attribute point = make(context, request))
      return point;
  return {};
}

} // namespace kvc::kv
