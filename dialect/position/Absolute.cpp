//===- Absolute.cpp - the position point: as seen -------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kvc::kv {

Attribute AbsoluteAttr::fromRequest(MLIRContext *context,
                                    const PositionRequest &request) {
  if (!request.rotated || request.positions != "absolute")
    return {};
  RopeAttr rope = RopeAttr::fromRequest(context, request);
  return rope ? AbsoluteAttr::get(context, rope) : Attribute();
}

unsigned AbsoluteAttr::getRotations() const { return 1; }

unsigned AbsoluteAttr::rotationFor(bool) const { return 0; }

int64_t AbsoluteAttr::queryIndex(unsigned, int64_t position, int64_t) const {
  return position;
}

SmallVector<double> AbsoluteAttr::getFrequencies() const {
  return getRope().getFrequencies();
}

double AbsoluteAttr::getFactor() const { return getRope().getFactor(); }

int64_t AbsoluteAttr::getPairs() const { return getRope().getDims() / 2; }

std::pair<int64_t, int64_t> AbsoluteAttr::getPairDims(int64_t pair) const {
  return getRope().getPairDims(pair);
}

Attribute AbsoluteAttr::getStoredForm() const { return getRope(); }

PositionAttrInterface AbsoluteAttr::getKernelForm() const {
  return llvm::cast<PositionAttrInterface>(
      get(getContext(), getRope().getKernelForm()));
}

Value AbsoluteAttr::buildQueryIndex(OpBuilder &, Location, unsigned,
                                    Value position, Value) const {
  return position;
}

} // namespace kvc::kv
