//===- Own.cpp - the depth point: a cache of its own ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

using namespace mlir;

namespace kvc::kv {

Attribute OwnAttr::fromRequest(MLIRContext *context,
                               const DepthRequest &request) {
  return request.share ? Attribute() : OwnAttr::get(context);
}

int64_t OwnAttr::getOwner(int64_t self) const { return self; }

bool OwnAttr::stores() const { return true; }

DepthAttrInterface OwnAttr::getKernelForm() const {
  return llvm::cast<DepthAttrInterface>(*this);
}

} // namespace kvc::kv
