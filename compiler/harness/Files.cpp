//===- Files.cpp - what is wrong with files that a user gave --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Files.h"

using namespace llvm;

namespace kvc::harness {

Error userError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

} // namespace kvc::harness
