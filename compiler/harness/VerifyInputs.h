//===- VerifyInputs.h - how long a library is checked, and where *- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_VERIFYINPUTS_H
#define KVC_COMPILER_HARNESS_VERIFYINPUTS_H

#include "compiler/harness/Comparison.h"
#include "llvm/ADT/BitVector.h"

namespace kvc::harness {

/// How one layer is checked: up to which length, and at which lengths all that
/// is stored is compared.
struct LayerSchedule {
  int64_t length = 0;
  int64_t stride =
      1; ///< outputs are compared every so many steps, and at marks
  llvm::BitVector marks; ///< by length
  /// Whether no earlier layer has the same kernels: the others are checked
  /// shortly, and on one kind of input.
  bool distinct = true;

  bool marked(int64_t seen) const {
    return seen < static_cast<int64_t>(marks.size()) && marks[seen];
  }
  bool compares(int64_t seen) const {
    return seen % stride == 0 || marked(seen);
  }
};

/// Long enough that each layer passes its borders: sinks, the window, groups
/// and flushes, the residual. Where that would take too long, fewer outputs
/// are compared; the marked lengths always are.
std::vector<LayerSchedule> makeSchedule(const reference::Reference &model);

/// The same for a trace of so many tokens.
std::vector<LayerSchedule> makeSchedule(const reference::Reference &model,
                                        int64_t tokens);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_VERIFYINPUTS_H
