//===- Blocks.cpp - a time point: whole blocks of tokens ------------------===//
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
BlocksAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t block, int64_t count) {
  if (block < 1 || count < 1)
    return emitError() << "block and count are at least 1";
  return success();
}

int64_t BlocksAttr::getSinks() const { return 0; }

int64_t BlocksAttr::firstLive(int64_t seen) const {
  const int64_t newest = std::max<int64_t>(0, seen - 1) / getBlock();
  return std::max<int64_t>(0, newest - (getCount() - 1)) * getBlock();
}

int64_t BlocksAttr::getCapacity() const { return getBlock() * getCount(); }

std::optional<int64_t> BlocksAttr::getLimit() const { return std::nullopt; }

Value BlocksAttr::buildFirstLive(OpBuilder &builder, Location loc,
                                 Value seen) const {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value last = arith::SubIOp::create(builder, loc, seen, constant(1));
  last = arith::MaxSIOp::create(builder, loc, last, constant(0));
  Value newest =
      arith::DivUIOp::create(builder, loc, last, constant(getBlock()));
  Value first =
      arith::SubIOp::create(builder, loc, newest, constant(getCount() - 1));
  first = arith::MaxSIOp::create(builder, loc, first, constant(0));
  return arith::MulIOp::create(builder, loc, first, constant(getBlock()));
}

} // namespace kvtest
