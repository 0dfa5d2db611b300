//===- AffineChannel.cpp - codes, one scale a channel ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"

using namespace mlir;

namespace kvc::kv {

KVC_DEFINE_AFFINE_POINT(AffineChannelAttr)

LogicalResult
AffineChannelAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                          int64_t bits, int64_t group, int64_t flush,
                          int64_t residual, Type scales) {
  if (group > 0 && flush % group != 0)
    return emitError() << "flush is " << flush
                       << ", which is not a multiple of group " << group;
  return affine::verify(emitError, bits, group, flush, residual, scales);
}

Attribute AffineChannelAttr::fromRequest(MLIRContext *context,
                                         const PrecisionRequest &request) {
  return affine::fromRequest<AffineChannelAttr>(context, request, "channel");
}

std::optional<ScaleBlock> AffineChannelAttr::getBlock(int64_t) const {
  return ScaleBlock{getGroup(), 1};
}

} // namespace kvc::kv
