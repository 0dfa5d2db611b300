//===- EmitHeader.cpp - the C header of one library -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/emit/Emit.h"
#include "compiler/emit/InterfaceHeader.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kvc {

std::string headerFor(kv::ModelOp model) {
  const std::string name = model.getSymName().str();
  const std::string upper = StringRef(name).upper();
  auto layers = model.getLayers();
  kv::ShapeAttr shape = layers.front().getShape();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "/* " << name << ": made by kvc from its spec; do not edit.\n"
     << " *\n"
     << " * " << layers.size() << " layers. Layer 0: " << shape.getHeads()
     << " query heads, " << shape.getKvHeads() << " heads of keys and values, "
     << shape.getHeadDim() << " channels a key, " << shape.getValueDim()
     << " a value.\n"
     << " * Elements of q, k, v and out: " << model.getIo() << ".\n"
     << " * The interface, which all libraries share, follows first.\n"
     << " */\n\n"
     << StringRef(reinterpret_cast<const char *>(kvc_interface_header),
                  kvc_interface_header_size)
     << "\n#ifndef KVC_LIBRARY_" << upper << "_H\n#define KVC_LIBRARY_" << upper
     << "_H\n\n#define " << upper << "_LAYERS " << layers.size() << "\n#define "
     << upper << "_HEADS " << shape.getHeads() << "\n#define " << upper
     << "_KV_HEADS " << shape.getKvHeads() << "\n#define " << upper
     << "_HEAD_DIM " << shape.getHeadDim() << "\n#define " << upper
     << "_VALUE_DIM " << shape.getValueDim()
     << "\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "/* This library's functions; valid for the life of the process. */\n"
     << "const kvc_library_table *" << name << "_library(void);\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* KVC_LIBRARY_" << upper
     << "_H */\n";
  return text;
}

} // namespace kvc
