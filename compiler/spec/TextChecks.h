//===- TextChecks.h - slips that a YAML parser misreports -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A YAML parser reports many a slip where it notices it, lines behind its place
// and by another cause, or takes it for a longer word. What a spec has of YAML
// is little enough to be looked through a line at a time first.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_TEXTCHECKS_H
#define KVC_COMPILER_SPEC_TEXTCHECKS_H

#include "compiler/spec/Diagnostics.h"

#include <string_view>

namespace kvc::spec {

/// Whether the text is UTF-8 of harmless characters: no controls, no spaces,
/// quotes and marks that only look like those of YAML, no deep brackets.
bool checkCharacters(std::string_view text, Diagnostics &diags);

/// Whether each line can be one of a spec: how it is indented, that its key has
/// a colon and a space, that brackets and quotes are closed. What a spec has no
/// use for (anchors, tags, blocks of text, complex keys) ends the check; the
/// parser says what is wrong with it. The characters are checked before.
bool checkLines(std::string_view text, Diagnostics &diags);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_TEXTCHECKS_H
