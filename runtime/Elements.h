//===- Elements.h - the element types of the interface ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that depends on `io`: how wide an element is and which values are
// refused. Another type is one more case in the two switches of Elements.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_ELEMENTS_H
#define KVC_RUNTIME_ELEMENTS_H

#include <stdint.h>

namespace kvc::runtime {

/// The first of `count` elements of type `io` (kvc_type) that is NaN,
/// infinite or above 2^56 in magnitude; -1 where there is none.
int64_t firstRefused(int64_t io, const void *elements, int64_t count);

/// Bytes of an element of type `io`.
inline int64_t elementBytes(int64_t io) { return io == 0 ? 4 : 2; }

/// Element `index`, exactly.
double elementValue(int64_t io, const void *elements, int64_t index);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_ELEMENTS_H
