//===- All.cpp - the time point: every token stays ------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
AllAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                int64_t sinks, int64_t tokens) {
  if (sinks < 0)
    return emitError() << "sinks are not negative, as " << sinks << " is";
  if (tokens <= sinks || tokens > INT32_MAX)
    return emitError() << "tokens is more than sinks (" << sinks
                       << ") and at most " << INT32_MAX << ", not " << tokens;
  return success();
}

Attribute AllAttr::fromRequest(MLIRContext *context,
                               const TimeRequest &request) {
  if (request.window)
    return {};
  return AllAttr::get(context, request.sinks, request.context);
}

int64_t AllAttr::firstLive(int64_t) const { return getSinks(); }

int64_t AllAttr::getCapacity() const { return getTokens() - getSinks(); }

std::optional<int64_t> AllAttr::getLimit() const { return getTokens(); }

TimeAttrInterface AllAttr::getStoredForm() const {
  return llvm::cast<TimeAttrInterface>(
      get(getContext(), getSinks(), INT32_MAX));
}

Value AllAttr::buildFirstLive(OpBuilder &builder, Location loc, Value) const {
  return arith::ConstantIndexOp::create(builder, loc, getSinks());
}

} // namespace kvc::kv
