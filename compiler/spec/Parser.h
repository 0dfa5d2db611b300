//===- Parser.h - YAML text to a resolved spec ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_PARSER_H
#define KVC_COMPILER_SPEC_PARSER_H

#include "compiler/spec/Diagnostics.h"
#include "compiler/spec/Spec.h"

#include <optional>
#include <string>
#include <string_view>

namespace kvc::spec {

/// Reads one spec. Where anything is wrong there is no spec, and `diags` has
/// every error of the text; `file` is the name that it shows. Any bytes may be
/// given; no exception leaves. `defaults` are those of what the spec is for.
std::optional<Spec> parseSpec(std::string_view text, std::string file,
                              Diagnostics &diags,
                              const Defaults &defaults = {});

/// The same of a file; reads at most 1 MiB of it. "-" is standard input, which
/// diagnostics call <stdin>.
std::optional<Spec> parseSpecFile(const std::string &path, Diagnostics &diags,
                                  const Defaults &defaults = {});

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_PARSER_H
