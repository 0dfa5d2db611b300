//===- ModelConfig.h - a model's config in the place of a spec --*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_MODELCONFIG_H
#define KVC_COMPILER_SPEC_MODELCONFIG_H

#include "compiler/spec/Document.h"

#include <string>

namespace kvc::spec {

/// What to say of a document that is the config.json of a Hugging Face model:
/// the part of a spec that its plain fields make, and what is left to decide.
/// Empty where it is no such config.
std::string explainModelConfig(const Node &root);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_MODELCONFIG_H
