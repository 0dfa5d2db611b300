//===- StoredForm.h - what two specs store, compared ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text that a snapshot carries, and that of the library that is to load it
// (compiler/emit/StoredForm.cpp): lines of layers, in each pieces apart by
// "; ", of which a plane's begin with its key in a spec.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_STOREDFORM_H
#define KVC_RUNTIME_STOREDFORM_H

#include "runtime/Text.h"

namespace kvc::runtime {

/// Says where two forms, which are not the same, differ first: `theirs` that of
/// a snapshot, which is not trusted, `ours` that of this library. Where it is a
/// number or word of a plane's codes, also what to write in a spec to read the
/// snapshot.
void explainOtherForm(Text &text, const char *theirs, const char *ours);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_STOREDFORM_H
