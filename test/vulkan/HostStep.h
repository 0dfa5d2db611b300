//===- HostStep.h - a GPU's pages, filled by the CPU ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a step that are not generated for a GPU yet are lowered for
// this CPU, from the very streams and layouts that the GPU's kernel is made
// for: with as many lanes, so that the words of a page are the same. They are
// compiled in this process, and append and code a layer's tokens to one buffer
// of words, which is both a view of the CPU's and of the GPU's.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_VULKAN_HOSTSTEP_H
#define KVC_TEST_VULKAN_HOSTSTEP_H

#include "compiler/harness/Model.h"
#include "dialect/KVLayout.h"
#include "dialect/KVOps.h"
#include "runtime/Generated.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace kvc::test {

/// The one step of a model of like layers.
class HostStep {
public:
  /// For a GPU with subgroups of `lanes` invocations.
  static llvm::Expected<std::unique_ptr<HostStep>> create(harness::Model &model,
                                                          int64_t lanes);

  const std::string &name() const { return stepName; }
  /// Appends the next token and codes what falls due.
  void append(const void *k, const void *v);
  int64_t seen() const { return length; }

  /// The words of the GPU's view: page tables, then pages.
  llvm::ArrayRef<uint32_t> words() const { return buffer; }
  /// [2][pairs] of each rotation that the query of the newest token takes.
  std::vector<std::vector<float>> queryAngles() const;
  /// The same attention by the CPU.
  void attend(kvc_gen_rows &rows) const { functions.attend(&view, &rows); }

private:
  struct Functions {
    decltype(kvc_gen_kernel::append) append;
    decltype(kvc_gen_kernel::code) code;
    decltype(kvc_gen_kernel::attend) attend;
    decltype(kvc_gen_kernel::indices) indices;
  };

  llvm::Error compile(mlir::ModuleOp module);
  void layOut(llvm::ArrayRef<kv::StreamAttr> streams);
  std::vector<float> anglesOf(int64_t index) const;

  std::string stepName;
  kv::PolicyAttr policy;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Functions functions = {};
  int64_t length = 0;
  std::vector<uint32_t> buffer;
  std::vector<std::vector<void *>> tables; ///< the CPU's, by stream
  kvc_gen_view view = {};
};

} // namespace kvc::test

#endif // KVC_TEST_VULKAN_HOSTSTEP_H
