//===- Table.cpp - text in aligned columns --------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Table.h"

#include <cassert>

using namespace llvm;

namespace kvc::harness {

Table::Table(ArrayRef<Column> columns) {
  std::vector<std::string> titles;
  for (const Column &column : columns) {
    titles.push_back(column.title.str());
    words.push_back(column.words);
  }
  rows.push_back(std::move(titles));
}

void Table::add(std::vector<std::string> row) {
  assert(row.size() == words.size() && "a cell for each column");
  rows.push_back(std::move(row));
}

void Table::print(raw_ostream &os) const {
  std::vector<size_t> widths(words.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += i ? "  " : "";
      line += words[i] ? row[i] + space : space + row[i];
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

} // namespace kvc::harness
