//===- InCache.cpp - the position point: index in the cache ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kvc::kv {

Attribute InCacheAttr::fromRequest(MLIRContext *context,
                                   const PositionRequest &request) {
  if (request.positions != "cache")
    return {};
  if (!request.rotated)
    return InCacheAttr::get(context, RopeAttr());
  RopeAttr rope = RopeAttr::fromRequest(context, request);
  return rope ? InCacheAttr::get(context, rope) : Attribute();
}

unsigned InCacheAttr::getRotations() const { return getRope() ? 2 : 0; }

unsigned InCacheAttr::getIndices() const { return 2; }

unsigned InCacheAttr::rotationFor(bool sinks) const { return sinks ? 1 : 0; }

int64_t InCacheAttr::queryIndex(unsigned rotation, int64_t position,
                                int64_t evicted) const {
  return rotation == 1 ? position - evicted : position;
}

SmallVector<double> InCacheAttr::getFrequencies() const {
  return getRope() ? getRope().getFrequencies() : SmallVector<double>();
}

double InCacheAttr::getFactor() const {
  return getRope() ? getRope().getFactor() : 1.0;
}

int64_t InCacheAttr::getPairs() const {
  return getRope() ? getRope().getDims() / 2 : 0;
}

std::pair<int64_t, int64_t> InCacheAttr::getPairDims(int64_t pair) const {
  return getRope().getPairDims(pair);
}

PositionAttrInterface InCacheAttr::getKernelForm() const {
  if (!getRope())
    return llvm::cast<PositionAttrInterface>(*this);
  return llvm::cast<PositionAttrInterface>(
      get(getContext(), getRope().getKernelForm()));
}

Attribute InCacheAttr::getStoredForm() const { return getRope(); }

Value InCacheAttr::buildQueryIndex(OpBuilder &builder, Location loc,
                                   unsigned rotation, Value position,
                                   Value evicted) const {
  if (rotation == 0)
    return position;
  return arith::SubIOp::create(builder, loc, position, evicted);
}

} // namespace kvc::kv
