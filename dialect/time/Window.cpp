//===- Window.cpp - the time point: sinks and a window --------------------===//
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
WindowAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t sinks, int64_t window) {
  if (sinks < 0 || sinks > INT32_MAX)
    return emitError() << "sinks are 0 to " << INT32_MAX << ", not " << sinks;
  if (window < 1 || window > INT32_MAX)
    return emitError() << "window is 1 to " << INT32_MAX << ", not " << window;
  return success();
}

Attribute WindowAttr::fromRequest(MLIRContext *context,
                                  const TimeRequest &request) {
  if (!request.window)
    return {};
  return WindowAttr::get(context, request.sinks, *request.window);
}

int64_t WindowAttr::firstLive(int64_t seen) const {
  return std::max(getSinks(), seen - getWindow());
}

int64_t WindowAttr::getCapacity() const { return getWindow(); }

std::optional<int64_t> WindowAttr::getLimit() const { return std::nullopt; }

Value WindowAttr::buildFirstLive(OpBuilder &builder, Location loc,
                                 Value seen) const {
  Value window = arith::ConstantIndexOp::create(builder, loc, getWindow());
  Value sinks = arith::ConstantIndexOp::create(builder, loc, getSinks());
  Value oldest = arith::SubIOp::create(builder, loc, seen, window);
  return arith::MaxSIOp::create(builder, loc, oldest, sinks);
}

} // namespace kvc::kv
