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
  if (!table)
    return false;
  leaves = static_cast<int64_t **>(
      memory->table(static_cast<size_t>(leafCount()), sizeof(int64_t *)));
  return leaves != nullptr;
}

TokenRange Stream::entriesOf(int64_t leaf) const {
  int64_t last = (leaf + 1) * LeafPages;
  return {leaf * LeafPages,
          last < shape->table_pages ? last : shape->table_pages};
}

bool Stream::share(Stream &from, const Allocator &itsMemory) {
  if (!open(*from.shape, itsMemory))
    return false;
  begin = from.begin;
  end = from.end;
  forked = from.forked = true;
  for (int64_t leaf = 0; leaf < leafCount(); ++leaf) {
    TokenRange entries = entriesOf(leaf);
    int64_t first = entries.begin;
    while (first < entries.end && !from.table[first])
      ++first;
    if (first == entries.end)
      continue;
    int64_t *&holders = from.leaves[leaf];
    if (!holders) {
      holders = static_cast<int64_t *>(memory->table(1, sizeof(int64_t)));
      if (!holders)
        return false;
      *holders = 1;
    }
    __atomic_fetch_add(holders, 1, __ATOMIC_RELAXED);
    leaves[leaf] = holders;
    for (int64_t entry = first; entry < entries.end; ++entry)
      table[entry] = from.table[entry];
  }
  pages = end - begin;
  return true;
}

int64_t Stream::close() {
  if (!table)
    return 0;
  int64_t given = 0;
  auto give = [&](void *page) {
    memory->give(&headerOf(page));
    given += bytesOfPage();
  };
  // Where no page is held, no leaf is.
  for (int64_t leaf = 0; begin < end && leaf < leafCount(); ++leaf) {
    int64_t *holders = leaves[leaf];
    if (holders && __atomic_sub_fetch(holders, 1, __ATOMIC_ACQ_REL) > 0)
      continue;
    memory->give(holders);
    TokenRange entries = entriesOf(leaf);
    for (int64_t entry = entries.begin; entry < entries.end; ++entry)
      if (void *page = table[entry])
        if (letGo(page))
          give(page);
  }
  while (freePages)
    give(takePage());
  memory->give(leaves);
  memory->give(table);
  *this = {};
  return given;
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

Stream::Header &Stream::headerOf(void *page) {
  return *reinterpret_cast<Header *>(static_cast<char *>(page) -
                                     KVC_PAGE_HEADER);
}

bool Stream::addPage() {
  void *block = memory->page(static_cast<size_t>(bytesOfPage()));
  if (!block)
    return false;
  freePage(static_cast<char *>(block) + KVC_PAGE_HEADER);
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
    memory->give(&headerOf(takePage()));
}

void Stream::freePage(void *page) {
  headerOf(page).next = freePages;
  freePages = page;
}

void *Stream::takePage() {
  void *page = freePages;
  freePages = headerOf(page).next;
  headerOf(page).holders = 1;
  return page;
}

/// One holder less; true where there is none now, and the page is the caller's.
bool Stream::letGo(void *page) {
  return __atomic_sub_fetch(&headerOf(page).holders, 1, __ATOMIC_ACQ_REL) == 0;
}

/// Have the leaf of `page` alone, its pages counted one by one.
void Stream::splitLeaf(int64_t page) {
  int64_t *&holders = leafOf(page);
  if (!holders)
    return;
  if (__atomic_load_n(holders, __ATOMIC_ACQUIRE) == 1) {
    memory->give(holders);
    holders = nullptr;
    return;
  }
  TokenRange entries = entriesOf(page % shape->table_pages / LeafPages);
  auto count = [&](int64_t more) {
    for (int64_t entry = entries.begin; entry < entries.end; ++entry)
      if (table[entry])
        __atomic_fetch_add(&headerOf(table[entry]).holders, more,
                           __ATOMIC_RELAXED);
  };
  // Counted before it is let go: what others let go meanwhile stays.
  count(1);
  if (__atomic_sub_fetch(holders, 1, __ATOMIC_ACQ_REL) == 0) {
    // The others let go meanwhile: their count of the pages is ours.
    count(-1);
    memory->give(holders);
  }
  holders = nullptr;
}

bool Stream::isShared(int64_t page) const {
  int64_t *holders = leafOf(page);
  if (holders && __atomic_load_n(holders, __ATOMIC_ACQUIRE) > 1)
    return true;
  return __atomic_load_n(&headerOf(entryOf(page)).holders, __ATOMIC_ACQUIRE) >
         1;
}

void Stream::givePage(int64_t page) {
  splitLeaf(page);
  void *&entry = entryOf(page);
  if (letGo(entry))
    freePage(entry);
  else
    --pages;
  entry = nullptr;
}

/// The first held page with `token` or what is behind it.
int64_t Stream::firstFrom(int64_t token) const {
  int64_t page =
      token < shape->origin ? 0 : (token - shape->origin) / shape->page_tokens;
  return page > begin ? page : begin;
}

int64_t Stream::sharedFrom(int64_t token) const {
  int64_t count = 0;
  if (forked)
    for (int64_t page = firstFrom(token); page < end; ++page)
      count += isShared(page);
  return count;
}

void Stream::own(int64_t token) {
  if (!forked)
    return;
  for (int64_t page = firstFrom(token); page < end; ++page) {
    if (!isShared(page))
      continue;
    void *copy = takePage();
    __builtin_memcpy(copy, entryOf(page),
                     static_cast<size_t>(shape->page_bytes));
    givePage(page);
    entryOf(page) = copy;
  }
}

void Stream::cover(TokenRange tokens) {
  if (tokens.empty())
    return;
  TokenRange wanted = pageRange(tokens);
  if (begin == end)
    begin = end = wanted.begin;
  for (; end < wanted.end; ++end) {
    if (forked)
      splitLeaf(end);
    entryOf(end) = takePage();
  }
}

void Stream::trim(TokenRange tokens) {
  TokenRange wanted = pageRange(tokens);
  for (; begin < end && (wanted.empty() || begin < wanted.begin); ++begin)
    givePage(begin);
  for (; end > begin && end > wanted.end; --end)
    givePage(end - 1);
}

} // namespace kvc::runtime
