//===- Pages.h - the pages that hold one stream's tokens --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream holds the pages of one range of tokens. Pages that lose their last
// token go to the stream's own list and serve again; memory goes back to the
// platform only when the stream is closed, so that a stream which has met its
// longest range never allocates again.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_PAGES_H
#define KVC_RUNTIME_PAGES_H

#include "kvc/kvc.h"
#include "runtime/Allocator.h"
#include "runtime/Generated.h"

namespace kvc::runtime {

/// The tokens begin <= t < end, counted from 0.
struct TokenRange {
  int64_t begin, end;

  bool empty() const { return begin >= end; }
};

class Stream {
public:
  /// The page table of a stream of this shape, without pages; false where
  /// memory is short. All zero before and after close(). `memory` outlives it.
  bool open(const kvc_gen_stream &shape, const Allocator &memory);
  void close();

  /// The page table that kernels are given; [shape.table_pages], null where
  /// there is no page.
  void **pageTable() const { return table; }

  /// Pages that tokens take.
  int64_t pagesOf(TokenRange tokens) const;
  /// Pages held and free.
  int64_t pageCount() const { return pages; }
  /// Have as many pages, in use or not; false where memory is short: some may
  /// be there then, giveBack() puts that right.
  bool reserve(int64_t count);
  /// Give the platform what is more than `count` pages; so many are not in use.
  void giveBack(int64_t count);

  /// Hold the pages of `tokens` besides those that are held, with which they
  /// are consecutive. All are there by reserve().
  void cover(TokenRange tokens);

  /// Hold the pages of `tokens` and no others, all of which are held.
  void trim(TokenRange tokens);

  /// Bytes of all pages, in use or not: what was needed at most.
  int64_t heldBytes() const { return pages * shape->page_bytes; }

private:
  TokenRange pageRange(TokenRange tokens) const;
  bool addPage();
  void *takePage();
  void givePage(int64_t page);

  const kvc_gen_stream *shape;
  const Allocator *memory;
  void **table;
  void *freePages;    ///< linked through their first words
  int64_t begin, end; ///< pages held, counted from the origin's
  int64_t pages;      ///< pages held and free
};

} // namespace kvc::runtime

#endif // KVC_RUNTIME_PAGES_H
