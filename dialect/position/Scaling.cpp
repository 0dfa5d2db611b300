//===- Scaling.cpp - how rotary frequencies are scaled --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"

#include <cmath>

using namespace mlir;

namespace kvc::kv {

/// The names of a type's numbers; empty: there is no such type.
static SmallVector<StringRef> namesOf(StringRef type) {
  if (type == "linear" || type == "ntk")
    return {"factor"};
  if (type == "llama3")
    return {"factor", "low", "high", "original_context"};
  if (type == "yarn")
    return {"factor",    "original_context", "beta_fast",
            "beta_slow", "attention_factor", "truncate"};
  return {};
}

LogicalResult
ScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    StringRef type, DictionaryAttr numbers) {
  const auto names = namesOf(type);
  if (names.empty())
    return emitError() << R"(scaling is "linear", "ntk", "llama3" or "yarn", )"
                       << "not \"" << type << "\"";
  for (NamedAttribute number : numbers)
    if (!llvm::is_contained(names, number.getName().strref()))
      return emitError() << number.getName() << " is no number of scaling \""
                         << type << "\"";
  for (StringRef name : names) {
    Attribute number = numbers.get(name);
    if (name == "truncate") {
      if (!isa_and_present<BoolAttr>(number))
        return emitError() << "truncate is true or false";
      continue;
    }
    auto real = dyn_cast_if_present<FloatAttr>(number);
    if (!real || !real.getType().isF64() || !(real.getValueAsDouble() > 0) ||
        !std::isfinite(real.getValueAsDouble()))
      return emitError() << name << " is a positive f64";
  }
  return success();
}

double ScalingAttr::number(StringRef name) const {
  return getNumbers().getAs<FloatAttr>(name).getValueAsDouble();
}

ScalingAttr ScalingAttr::fromRequest(MLIRContext *context,
                                     const PositionRequest &request) {
  const PositionRequest::Scaling &scaling = request.scaling;
  if (scaling.type.empty())
    return {};
  Builder builder(context);
  SmallVector<NamedAttribute> numbers;
  for (StringRef name : namesOf(scaling.type))
    if (name == "truncate")
      numbers.push_back(
          builder.getNamedAttr(name, builder.getBoolAttr(scaling.truncate)));
    else
      numbers.push_back(builder.getNamedAttr(
          name, builder.getF64FloatAttr(scaling.numbers.at(name.str()))));
  return get(context, scaling.type, builder.getDictionaryAttr(numbers));
}

double ScalingAttr::getFactor() const {
  return getType() == "yarn" ? number("attention_factor") : 1.0;
}

/// 1 / theta^(2 i / dims).
static SmallVector<double> unscaled(double theta, int64_t dims) {
  SmallVector<double> frequencies;
  for (int64_t i = 0; i < dims / 2; ++i)
    frequencies.push_back(1.0 / std::pow(theta, static_cast<double>(2 * i) /
                                                    static_cast<double>(dims)));
  return frequencies;
}

SmallVector<double> ScalingAttr::llama3(double theta, int64_t dims) const {
  const double factor = number("factor"), low = number("low"),
               high = number("high"), context = number("original_context");
  const double longest = context / low, shortest = context / high;
  SmallVector<double> frequencies = unscaled(theta, dims);
  for (double &frequency : frequencies) {
    const double length = 2 * M_PI / frequency;
    if (length > longest) {
      frequency = frequency / factor;
    } else if (length > shortest) {
      // Not where low is high: no length lies between equal borders.
      const double smooth = (context / length - low) / (high - low);
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
    }
  }
  return frequencies;
}

SmallVector<double> ScalingAttr::yarn(double theta, int64_t dims) const {
  const double factor = number("factor"), context = number("original_context");
  // The dimension that turns so many times in the original context.
  auto dimension = [&](double turns) {
    return (static_cast<double>(dims) *
            std::log(context / (turns * 2 * M_PI))) /
           (2 * std::log(theta));
  };
  double low = dimension(number("beta_fast"));
  double high = dimension(number("beta_slow"));
  if (getNumbers().getAs<BoolAttr>("truncate").getValue()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(dims - 1));
  // The ramp is never a step.
  if (low == high)
    high += 0.001;
  SmallVector<double> frequencies;
  for (int64_t i = 0; i < dims / 2; ++i) {
    const double power =
        std::pow(theta, static_cast<double>(2 * i) / static_cast<double>(dims));
    const double stays = 1.0 / power, scaled = 1.0 / (factor * power);
    const double ramp =
        std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    const double share = 1 - ramp;
    frequencies.push_back(scaled * (1 - share) + stays * share);
  }
  return frequencies;
}

SmallVector<double> ScalingAttr::getFrequencies(double theta,
                                                int64_t dims) const {
  if (getType() == "llama3")
    return llama3(theta, dims);
  if (getType() == "yarn")
    return yarn(theta, dims);
  const double factor = number("factor");
  if (getType() == "ntk")
    return unscaled(theta * std::pow(factor, static_cast<double>(dims) /
                                                 static_cast<double>(dims - 2)),
                    dims);
  SmallVector<double> frequencies = unscaled(theta, dims);
  for (double &frequency : frequencies)
    frequency /= factor;
  return frequencies;
}

} // namespace kvc::kv
