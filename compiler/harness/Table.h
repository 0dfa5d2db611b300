//===- Table.h - text in aligned columns ------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_TABLE_H
#define KVC_COMPILER_HARNESS_TABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace kvc::harness {

/// Rows of cells. Each column is as wide as its widest cell; numbers stand on
/// the right, words on the left.
class Table {
public:
  struct Column {
    llvm::StringRef title;
    bool words = false;
  };
  explicit Table(llvm::ArrayRef<Column> columns);

  /// One cell a column.
  void add(std::vector<std::string> row);
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<bool> words; ///< by column
  std::vector<std::vector<std::string>> rows;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_TABLE_H
