//===- Trial.h - a kernel of attention against the reference ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One layer goes through one sequence. Keys and values are appended and coded
// on the CPU; at some lengths the query of the newest token attends by the
// kernel that `kvc compile --gpu` makes of the spec, and on the CPU, by the
// same tile program. Both are held against the fp64 reference within its
// bounds.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_VULKAN_TRIAL_H
#define KVC_TEST_VULKAN_TRIAL_H

#include "compiler/harness/Comparison.h"
#include "test/vulkan/HostStep.h"

#include <set>

namespace kvc::test {

/// What a kernel's buffer holds: before a run what goes in, then what came out.
using Bytes = std::vector<uint8_t>;

/// What runs a kernel.
class Runner {
public:
  virtual ~Runner() = default;
  /// Runs it in `groups` workgroups: buffer i is binding i, `constants` are the
  /// parameters behind them. False with `error`.
  virtual bool run(const std::vector<Bytes *> &buffers,
                   const std::vector<int32_t> &constants, uint32_t groups,
                   std::string &error) = 0;
};

/// out and lse of one query, as a kernel writes them.
struct Result {
  Bytes out;
  std::vector<float> lse;
};

/// Errors as fractions of their bounds.
struct Errors {
  double out = 0, lse = 0;
  void join(const Errors &other) {
    out = std::max(out, other.out);
    lse = std::max(lse, other.lse);
  }
  bool good() const { return out <= 1 && lse <= 1; }
};

class Trial {
public:
  Trial(harness::Model &model, int64_t lanes);

  /// The kernel's name, and how many buffers and constants it takes.
  std::string kernel() const { return host->name() + "_attend"; }
  uint32_t buffers() const;
  uint32_t constants() const { return 5 + partial; }

  /// Prints errors by length; false where one is beyond its bound.
  bool run(Runner &runner, const std::set<int64_t> &lengths);

private:
  bool onDevice(Runner &runner, const harness::TokenInput &input,
                Result &result);
  Result onHost(const harness::TokenInput &input);
  Errors compare(const Result &got, const reference::Attended &want) const;
  /// Of all layers; the first one is tried.
  static std::vector<harness::LayerShape> shapeOf(harness::Model &model);

  std::unique_ptr<HostStep> host;
  std::vector<harness::LayerShape> layer;
  harness::LearnedSinks learned;
  std::unique_ptr<reference::Reference> reference;
  kv::ShapeAttr shape;
  harness::Element element;
  bool partial; ///< whether the kernel can also write f32
};

} // namespace kvc::test

#endif // KVC_TEST_VULKAN_TRIAL_H
