//===- Rope.cpp - rotary frequencies, shared by positions -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

#include <cmath>

using namespace mlir;

namespace kvc::kv {

LogicalResult
RopeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 FloatAttr theta, int64_t dims, StringRef pairing,
                 ScalingAttr scaling) {
  if (!theta.getType().isF64() || !(theta.getValueAsDouble() >= 1) ||
      !std::isfinite(theta.getValueAsDouble()))
    return emitError() << "theta is an f64 of at least 1, not " << theta;
  if (dims < 2 || dims > 65536 || dims % 2 != 0)
    return emitError() << "dims is even and 2 to 65536, not " << dims;
  if (pairing != "half" && pairing != "interleaved")
    return emitError() << R"(pairing is "half" or "interleaved", not ")"
                       << pairing << '"';
  if (scaling && scaling.getType() == "ntk" && dims == 2)
    return emitError() << "scaling \"ntk\" has the exponent dims / (dims - 2), "
                       << "so dims is not 2";
  if (scaling && scaling.getType() == "yarn" && theta.getValueAsDouble() == 1)
    return emitError() << "scaling \"yarn\" divides by the logarithm of theta, "
                       << "so theta is not 1";
  return success();
}

RopeAttr RopeAttr::fromRequest(MLIRContext *context,
                               const PositionRequest &request) {
  return get(context, FloatAttr::get(Float64Type::get(context), request.theta),
             request.dims, request.pairing,
             ScalingAttr::fromRequest(context, request));
}

RopeAttr RopeAttr::getKernelForm() const {
  return get(getContext(), FloatAttr::get(Float64Type::get(getContext()), 1.0),
             getDims(), getPairing(), ScalingAttr());
}

SmallVector<double> RopeAttr::getFrequencies() const {
  const double theta = getTheta().getValueAsDouble();
  if (getScaling())
    return getScaling().getFrequencies(theta, getDims());
  SmallVector<double> frequencies;
  for (int64_t i = 0; i < getDims() / 2; ++i)
    frequencies.push_back(
        1.0 / std::pow(theta, static_cast<double>(2 * i) / getDims()));
  return frequencies;
}

double RopeAttr::getFactor() const {
  return getScaling() ? getScaling().getFactor() : 1.0;
}

std::pair<int64_t, int64_t> RopeAttr::getPairDims(int64_t pair) const {
  if (getPairing() == "interleaved")
    return {2 * pair, 2 * pair + 1};
  return {pair, pair + getDims() / 2};
}

} // namespace kvc::kv
