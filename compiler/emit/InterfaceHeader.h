//===- InterfaceHeader.h - the C interface, as bytes ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// runtime/include/kvc/kvc.h as bytes, so that a generated header needs no
// other file.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_EMIT_INTERFACEHEADER_H
#define KVC_COMPILER_EMIT_INTERFACEHEADER_H

extern const unsigned char kvc_interface_header[];
extern const unsigned long kvc_interface_header_size;

#endif // KVC_COMPILER_EMIT_INTERFACEHEADER_H
