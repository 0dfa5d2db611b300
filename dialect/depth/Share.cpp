//===- Share.cpp - the depth point: reads another's cache -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
ShareAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  int64_t layer) {
  if (layer < 0)
    return emitError() << "a layer's number is not negative, as " << layer
                       << " is";
  return success();
}

Attribute ShareAttr::fromRequest(MLIRContext *context,
                                 const DepthRequest &request) {
  return request.share ? ShareAttr::get(context, *request.share) : Attribute();
}

int64_t ShareAttr::getOwner(int64_t) const { return getLayer(); }

bool ShareAttr::stores() const { return false; }

DepthAttrInterface ShareAttr::getKernelForm() const {
  return llvm::cast<DepthAttrInterface>(get(getContext(), 0));
}

} // namespace kvc::kv
