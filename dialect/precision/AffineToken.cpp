//===- AffineToken.cpp - codes, one scale a token -------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"

using namespace mlir;

namespace kvc::kv {

KVC_DEFINE_AFFINE_POINT(AffineTokenAttr)

LogicalResult
AffineTokenAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                        int64_t bits, int64_t group, int64_t flush,
                        int64_t residual, Type scales) {
  return affine::verify(emitError, bits, group, flush, residual, scales);
}

Attribute AffineTokenAttr::fromRequest(MLIRContext *context,
                                       const PrecisionRequest &request) {
  return affine::fromRequest<AffineTokenAttr>(context, request, "token");
}

std::optional<ScaleBlock> AffineTokenAttr::getBlock(int64_t dim) const {
  return ScaleBlock{1, std::min(getGroup(), dim)};
}

} // namespace kvc::kv
