//===- AffineAll.cpp - codes, one scale a channel in all ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"

using namespace mlir;

namespace kvc::kv {

KVC_DEFINE_AFFINE_CODES(AffineAllAttr)

LogicalResult
AffineAllAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      int64_t bits, Type scales) {
  return affine::verifyCodes(emitError, bits, scales);
}

Attribute AffineAllAttr::fromRequest(MLIRContext *context,
                                     const PrecisionRequest &request) {
  if (request.type || !request.groupAll || request.per != "channel")
    return {};
  return AffineAllAttr::get(context, request.bits, request.scales);
}

std::optional<ScaleBlock> AffineAllAttr::getBlock(int64_t) const {
  return ScaleBlock{ScaleBlock::AllTokens, 1};
}

} // namespace kvc::kv
