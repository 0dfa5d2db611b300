//===- Library.h - the function table of a library --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the generated entry points `<name>_library` and `kvc_library` return.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_LIBRARY_H
#define KVC_RUNTIME_LIBRARY_H

#include "kvc/kvc.h"

/// The table of the one model `kvc_generated`; valid for the life of the
/// process. Not exported: generated code calls it.
extern "C" const kvc_library_table *kvc_runtime_table();

#endif // KVC_RUNTIME_LIBRARY_H
