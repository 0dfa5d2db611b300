//===- StoredForm.h - what a snapshot depends on ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EMIT_STOREDFORM_H
#define KVC_COMPILER_EMIT_STOREDFORM_H

#include "dialect/KVOps.h"

#include <string>

namespace kvc {

/// What changes stored values, in lines, of each layer that stores any; layers
/// that are alike and follow one another are a line. Two libraries exchange
/// snapshots if these are equal: not the model's name and io, nor what readers,
/// queries, scores, arithmetic, rollback and context are.
std::string storedForm(kv::ModelOp model);

} // namespace kvc

#endif // KVC_COMPILER_EMIT_STOREDFORM_H
