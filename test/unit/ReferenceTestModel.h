//===- ReferenceTestModel.h - models for the reference ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models written as the cache level has them, and the reference of each.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_REFERENCETESTMODEL_H
#define KVC_TEST_UNIT_REFERENCETESTMODEL_H

#include "compiler/reference/Reference.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/Check.h"
#include "llvm/Support/FormatVariadic.h"

namespace kvc::test {

using namespace kvc::reference;
using namespace mlir;

struct Shape {
  int heads, kvHeads, headDim, valueDim;

  std::string text() const {
    return llvm::formatv("heads = {0}, kv_heads = {1}, head_dim = {2}, "
                         "value_dim = {3}",
                         heads, kvHeads, headDim, valueDim);
  }
  /// A body's text with the tensor types of this shape.
  std::string body(std::string inner, bool stores) const {
    auto type = [](std::string extents) {
      return "tensor<" + extents + "xf32>";
    };
    auto by = [](int a, int b) {
      return std::to_string(a) + "x" + std::to_string(b);
    };
    std::string q = type(by(heads, headDim)), k = type(by(kvHeads, headDim)),
                v = type(by(kvHeads, valueDim)), o = type(by(heads, valueDim)),
                l = type(std::to_string(heads));
    if (inner.empty())
      inner = stores ? "%1 = kv.append %c, %k, %v : KT, VT\n"
                       "%2 = kv.evict %1\n%3 = kv.code %2\n"
                       "%o, %l = kv.attend %3, %q : QT -> OT, LT\n"
                       "kv.yield %3, %o, %l : !kv.cache, OT, LT"
                     : "%o, %l = kv.attend %c, %q : QT -> OT, LT\n"
                       "kv.yield %o, %l : OT, LT";
    std::string text = "^bb0(%c: !kv.cache, %q: QT";
    text += stores ? ", %k: KT, %v: VT):\n" : "):\n";
    text += inner;
    for (auto [name, to] : {std::pair<std::string, std::string>{"QT", q},
                            {"KT", k},
                            {"VT", v},
                            {"OT", o},
                            {"LT", l}})
      for (size_t at; (at = text.find(name)) != std::string::npos;)
        text.replace(at, 2, to);
    return text;
  }
};

/// A policy's text; all but what is given is plain.
struct Policy {
  std::string keys = "#kv.float<f32>", values = "#kv.float<f32>";
  std::string time = "#kv.all<sinks = 0, tokens = 100000>";
  std::string position = "#kv.unrotated", depth = "#kv.own";
  std::string scale = "1.0";
  std::string more; ///< points of the score axis behind the scale
  int rollback = 0;

  std::string text() const {
    return "keys = " + keys + ", values = " + values +
           ", residual = #kv.float<f32>, key_sinks = #kv.float<f32>, "
           "value_sinks = #kv.float<f32>, time = " +
           time + ", position = " + position + ", depth = " + depth +
           ", score = [#kv.plain<scale = " + scale + " : f64>" + more +
           "], rollback = " + std::to_string(rollback);
  }
};
/// A model of one owner layer or more, written as the cache level has it.
struct Model {
  Model() { context.loadDialect<kv::KVDialect>(); }

  /// Adds a layer; its step does `inner`, or what is usual where that is "".
  void add(const Shape &shape, const Policy &policy, std::string inner = "");

  std::unique_ptr<Reference> build(int64_t first = 0,
                                   const LearnedSinks &sinks = {}) {
    module = parseSourceString<ModuleOp>("kv.model @m io f32 {\n" + text + "}",
                                         &context);
    if (!CHECK(bool(module)))
      exit(1);
    auto reference = Reference::create(*module, first, sinks);
    if (!CHECK(bool(reference)))
      exit(1);
    return std::move(*reference);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string text;
  int count = 0;
};

inline void Model::add(const Shape &shape, const Policy &policy,
                       std::string inner) {
  text += "kv.layer @layer" + std::to_string(count++) + " shape <" +
          shape.text() + ", io = f32> policy <" + policy.text() + "> {\n" +
          shape.body(inner, policy.depth == "#kv.own") + "\n}\n";
}
inline std::string window(int sinks, int size) {
  return llvm::formatv("#kv.window<sinks = {0}, window = {1}>", sinks, size);
}
inline std::string perChannel(int bits, int group, int flush, int residual) {
  return llvm::formatv("#kv.affine_channel<bits = {0}, group = {1}, flush = "
                       "{2}, residual = {3}, scales = f16>",
                       bits, group, flush, residual);
}
inline std::string perToken(int bits, int group, int flush, int residual) {
  return llvm::formatv("#kv.affine_token<bits = {0}, group = {1}, flush = {2}, "
                       "residual = {3}, scales = f16>",
                       bits, group, flush, residual);
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_REFERENCETESTMODEL_H
