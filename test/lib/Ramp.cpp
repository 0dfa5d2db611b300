//===- Ramp.cpp - a time point: a window that grows -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "test/lib/KVTest.h"

using namespace mlir;

namespace kvtest {

LogicalResult
RampAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 int64_t sinks, int64_t least, int64_t most, int64_t each,
                 int64_t step) {
  if (sinks < 0 || least < 1 || most < least || each < 1 || step < 1)
    return emitError() << "sinks are at least 0; least, each and step at "
                          "least 1; most at least least";
  return success();
}

// Each token seen widens the window by one at most, so that firstLive never
// falls.
int64_t RampAttr::firstLive(int64_t seen) const {
  const int64_t window = std::min(getMost(), getLeast() + seen / getEach());
  const int64_t old = std::max<int64_t>(0, seen - getSinks() - window);
  return getSinks() + old / getStep() * getStep();
}

int64_t RampAttr::getCapacity() const { return getMost() + getStep() - 1; }

std::optional<int64_t> RampAttr::getLimit() const { return std::nullopt; }

Value RampAttr::buildFirstLive(OpBuilder &builder, Location loc,
                               Value seen) const {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value window =
      arith::DivUIOp::create(builder, loc, seen, constant(getEach()));
  window = arith::AddIOp::create(builder, loc, window, constant(getLeast()));
  window = arith::MinSIOp::create(builder, loc, window, constant(getMost()));
  Value old = arith::SubIOp::create(builder, loc, seen, constant(getSinks()));
  old = arith::SubIOp::create(builder, loc, old, window);
  old = arith::MaxSIOp::create(builder, loc, old, constant(0));
  old = arith::DivUIOp::create(builder, loc, old, constant(getStep()));
  old = arith::MulIOp::create(builder, loc, old, constant(getStep()));
  return arith::AddIOp::create(builder, loc, old, constant(getSinks()));
}

} // namespace kvtest
