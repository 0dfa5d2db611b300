//===- Safetensors.h - files of named tensors -------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: 8 bytes, the little-endian length of a JSON header; the header,
// {name: {dtype, shape, data_offsets: [begin, end]}}; the data. A file is
// believed in nothing: lengths, offsets and sizes are held against the file's
// own size before anything is read or memory is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_SAFETENSORS_H
#define KVC_COMPILER_HARNESS_SAFETENSORS_H

#include "compiler/harness/Elements.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace kvc::harness {

/// A tensor of a file that is open. `element` is none where the file has a
/// type that kvc does not read; its bytes are only counted.
struct Tensor {
  std::optional<Element> element;
  std::string dtype;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<uint8_t> bytes;

  int64_t elements() const;
};

class SafetensorsFile {
public:
  static llvm::Expected<SafetensorsFile> open(llvm::StringRef path);
  /// The same of bytes in memory; `name` is what errors call them.
  static llvm::Expected<SafetensorsFile>
  read(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef name);

  /// Null where there is none of that name.
  const Tensor *find(llvm::StringRef name) const;
  size_t size() const { return tensors.size(); }
  auto names() const { return tensors.keys(); }
  llvm::StringRef path() const { return name; }

private:
  std::string name;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringMap<Tensor> tensors;
};

/// Collects tensors and writes them as one file, in the order of adding.
class SafetensorsWriter {
public:
  void add(llvm::StringRef name, Element element, llvm::ArrayRef<int64_t> shape,
           std::vector<uint8_t> bytes);
  void addF32(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
              llvm::ArrayRef<float> values);
  void addI64(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  /// Atomically: the old file stays until the new one is whole.
  llvm::Error write(llvm::StringRef path) const;

private:
  struct Entry {
    std::string name;
    Element element;
    llvm::SmallVector<int64_t, 4> shape;
    std::vector<uint8_t> bytes;
  };
  std::vector<Entry> entries;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_SAFETENSORS_H
