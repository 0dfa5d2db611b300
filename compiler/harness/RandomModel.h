//===- RandomModel.h - random specs -----------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_RANDOMMODEL_H
#define KVC_COMPILER_HARNESS_RANDOMMODEL_H

#include <cstdint>
#include <string>

namespace kvc::harness {

/// The text of spec `number` of the sequence that `seed` gives. Each number
/// takes the next combinations of the axes in turn, so that a run meets all of
/// them; what they leave open is random.
std::string makeRandomSpec(uint64_t seed, int64_t number);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_RANDOMMODEL_H
