//===- FullAttention.cpp - a trace over a full cache, in fp64 -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/FullAttention.h"

#include "compiler/harness/Progress.h"
#include "compiler/reference/Reference.h"
#include "llvm/Support/Parallel.h"

using namespace llvm;

namespace kvc::harness {

/// The rows of one layer, whose cache is filled.
static std::vector<float> attendRows(const reference::Reference &model,
                                     size_t layer, const LayerTrace &input,
                                     Progress &progress, const Twine &title) {
  const auto number = static_cast<int64_t>(layer);
  const int64_t width = input.shape.heads * input.shape.valueDim;
  std::vector<float> out(input.rows * width);
  // Rows are independent: each looks back from its own position.
  constexpr int64_t Batch = 128;
  for (int64_t begin = 0; begin < input.rows; begin += Batch) {
    progress.show(title + ", row " + Twine(begin) + " of " + Twine(input.rows));
    const int64_t end = std::min(begin + Batch, input.rows);
    parallelFor(begin, end, [&](size_t row) {
      const int64_t token = input.start + static_cast<int64_t>(row);
      const reference::Attended one = reference::attend(
          model.store(number), model.policy(number), model.shape(number), token,
          input.queryAt(token), model.sinks(number));
      for (auto [to, value] :
           zip(MutableArrayRef(out).slice(row * width, width), one.out))
        to = static_cast<float>(value);
    });
  }
  return out;
}

Expected<std::vector<std::vector<float>>> attendInFull(const spec::Spec &spec,
                                                       const Trace &trace) {
  const spec::Spec full = spec::withFullCache(spec, trace.tokens);
  auto model = Model::fromSpec(full.canonical, spec.file + " (full cache)",
                               /*threads=*/false);
  if (!model)
    return model.takeError();
  auto made =
      reference::Reference::create((*model)->module(), 0, trace.sinks());
  if (!made)
    return made.takeError();
  reference::Reference &reference = **made;
  Progress progress;
  std::vector<std::vector<float>> rows;
  for (auto [layer, input] : enumerate(trace.layers)) {
    const auto number = static_cast<int64_t>(layer);
    for (int64_t token = 0; reference.stores(number) && token < trace.tokens;
         ++token)
      reference.decode(
          number,
          {input.queryAt(token), input.keyAt(token), input.valueAt(token)},
          /*attention=*/false);
    rows.push_back(attendRows(reference, layer, input, progress,
                              "a full cache in fp64: layer " + Twine(layer)));
  }
  return rows;
}

} // namespace kvc::harness
