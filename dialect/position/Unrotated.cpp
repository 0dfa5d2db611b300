//===- Unrotated.cpp - the position point: none ---------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

using namespace mlir;

namespace kvc::kv {

Attribute UnrotatedAttr::fromRequest(MLIRContext *context,
                                     const PositionRequest &request) {
  if (request.rotated || request.positions != "absolute")
    return {};
  return UnrotatedAttr::get(context);
}

unsigned UnrotatedAttr::getRotations() const { return 0; }

unsigned UnrotatedAttr::rotationFor(bool) const { return 0; }

int64_t UnrotatedAttr::queryIndex(unsigned, int64_t position, int64_t) const {
  return position;
}

SmallVector<double> UnrotatedAttr::getFrequencies() const { return {}; }

int64_t UnrotatedAttr::getPairs() const { return 0; }

std::pair<int64_t, int64_t> UnrotatedAttr::getPairDims(int64_t) const {
  llvm_unreachable("nothing is rotated");
}

Attribute UnrotatedAttr::getStoredForm() const { return {}; }

PositionAttrInterface UnrotatedAttr::getKernelForm() const {
  return llvm::cast<PositionAttrInterface>(*this);
}

Value UnrotatedAttr::buildQueryIndex(OpBuilder &, Location, unsigned,
                                     Value position, Value) const {
  return position;
}

} // namespace kvc::kv
