//===- Pages.cpp - the pages that hold one stream's tokens ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pages are counted from the one that begins at the stream's origin; page n is
// entry n % table_pages of the table.
//
//===----------------------------------------------------------------------===//

#include "runtime/Pages.h"

namespace kvc::runtime {

bool Stream::open(const kvc_gen_stream &itsShape, const Allocator &itsMemory) {
  shape = &itsShape;
  memory = &itsMemory;
  table = static_cast<void **>(
      memory->table(static_cast<size_t>(shape->table_pages), sizeof(void *)));
  return table != nullptr;
}

void Stream::close() {
  if (!table)
    return;
  for (; begin < end; ++begin)
    givePage(begin);
  while (freePages)
    memory->give(takePage());
  memory->give(table);
  *this = {};
}

TokenRange Stream::pageRange(TokenRange tokens) const {
  if (tokens.empty())
    return {0, 0};
  return {(tokens.begin - shape->origin) / shape->page_tokens,
          (tokens.end - 1 - shape->origin) / shape->page_tokens + 1};
}

int64_t Stream::pagesOf(TokenRange tokens) const {
  TokenRange range = pageRange(tokens);
  return range.end - range.begin;
}

bool Stream::addPage() {
  // A page lies in the list by a pointer, whatever its size.
  int64_t least = sizeof(void *);
  void *page =
      memory->page(shape->page_bytes < least ? least : shape->page_bytes);
  if (!page)
    return false;
  *static_cast<void **>(page) = freePages;
  freePages = page;
  ++pages;
  return true;
}

bool Stream::reserve(int64_t count) {
  while (pages < count)
    if (!addPage())
      return false;
  return true;
}

void Stream::giveBack(int64_t count) {
  for (; pages > count; --pages)
    memory->give(takePage());
}

void *Stream::takePage() {
  void *page = freePages;
  freePages = *static_cast<void **>(page);
  // A kernel may read what is stale, but must find no pointer there, which
  // could be a NaN.
  *static_cast<void **>(page) = nullptr;
  return page;
}

void Stream::givePage(int64_t page) {
  void *&entry = table[page % shape->table_pages];
  *static_cast<void **>(entry) = freePages;
  freePages = entry;
  entry = nullptr;
}

void Stream::cover(TokenRange tokens) {
  if (tokens.empty())
    return;
  TokenRange wanted = pageRange(tokens);
  if (begin == end)
    begin = end = wanted.begin;
  for (; end < wanted.end; ++end)
    table[end % shape->table_pages] = takePage();
}

void Stream::trim(TokenRange tokens) {
  TokenRange wanted = pageRange(tokens);
  for (; begin < end && (wanted.empty() || begin < wanted.begin); ++begin)
    givePage(begin);
  for (; end > begin && end > wanted.end; --end)
    givePage(end - 1);
}

} // namespace kvc::runtime
