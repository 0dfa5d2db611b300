//===- PlayedModel.h - a spec as library and reference ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are given the same tokens; tests hold both against numbers by hand.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_PLAYEDMODEL_H
#define KVC_TEST_UNIT_PLAYEDMODEL_H

#include "compiler/harness/Calls.h"
#include "compiler/harness/Model.h"
#include "compiler/reference/Reference.h"
#include "test/unit/Check.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kvc::test {

class PlayedModel {
public:
  /// `text` is a spec without its first two lines.
  explicit PlayedModel(const std::string &text, int64_t first = 0,
                       harness::LearnedSinks sinks = {})
      : first(first),
        model(
            need(harness::Model::fromSpec("kvc: 1\nname: m\n" + text, "spec"))),
        library(need(harness::openCompiled(*model, CompileOptions()))),
        cache(need(library.create(first, sinks))),
        reference(
            need(reference::Reference::create(model->module(), first, sinks))) {
  }

  /// One step of an owner, or of a reader with `k` and `v` empty. Whether
  /// `out` and `lse` of both are as wanted, to within `error`.
  bool step(int64_t layer, llvm::ArrayRef<float> q, llvm::ArrayRef<float> k,
            llvm::ArrayRef<float> v, llvm::ArrayRef<double> out,
            llvm::ArrayRef<double> lse, double error = 2e-6) {
    take(layer, q, k, v);
    bool good = got.out.size() == out.size() && got.lse.size() == lse.size();
    for (size_t i = 0; good && i < out.size(); ++i)
      good = near("out", i, got.out[i], want.out[i], out[i], error);
    for (size_t i = 0; good && i < lse.size(); ++i)
      good = near("lse", i, got.lse[i], want.lse[i], lse[i], error);
    return good;
  }

  void take(int64_t layer, llvm::ArrayRef<float> q, llvm::ArrayRef<float> k,
            llvm::ArrayRef<float> v) {
    const int64_t seen = reference->store(layer).seen();
    const int64_t position = first + seen - (k.empty() ? 1 : 0);
    CHECK_EQ(harness::decode(library, cache, layer,
                             {position, 1, q.vec(), k.vec(), v.vec()}, got),
             KVC_OK);
    want = reference->decode(layer, {q, k, v});
  }

  /// The keys of all stored tokens, as `read` gives them.
  std::vector<float> keys(int64_t layer) {
    int64_t count = 0;
    CHECK_EQ(library->stored(cache.get(), int32_t(layer), &count), KVC_OK);
    const harness::LayerShape &shape = library.layers()[layer];
    std::vector<float> keys(count * shape.kvHeads * shape.headDim);
    CHECK_EQ(library->read(cache.get(), int32_t(layer), 0, count, keys.data(),
                           nullptr, nullptr),
             KVC_OK);
    return keys;
  }

  harness::Output got;
  reference::Attended want;

private:
  template <typename T> static T need(llvm::Expected<T> value) {
    if (value)
      return std::move(*value);
    std::printf("%s\n", llvm::toString(value.takeError()).c_str());
    std::exit(1);
  }

  static bool near(const char *name, size_t i, double got, double reference,
                   double want, double error) {
    const double scale = std::max(1.0, std::fabs(want));
    if (std::fabs(reference - want) <= 1e-7 * scale &&
        std::fabs(got - want) <= error * scale)
      return true;
    std::printf("%s[%zu] is %.9g, in the reference %.9g, by hand %.9g\n", name,
                i, got, reference, want);
    return false;
  }

  int64_t first;
  std::unique_ptr<harness::Model> model;

public:
  harness::LoadedLibrary library;

private:
  harness::LibraryCache cache;
  std::unique_ptr<reference::Reference> reference;
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_PLAYEDMODEL_H
