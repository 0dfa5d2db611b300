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
// Streams of forked caches share pages. Who writes to a page takes a copy of it
// first, as long as others hold it too. Who holds what is counted in two
// levels, so that a fork of a long sequence counts a hundredth of its pages:
// *leaves* of 64 entries of the page table are shared as a whole until one of
// their holders changes an entry, and then counts each page. Counts are
// atomic: the caches that share may be used from distinct threads.
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
  /// Gives how many bytes of pages went back with it.
  int64_t close();

  /// The same with the pages that `from` holds, which are both streams' then;
  /// `memory` gives and takes what `from`'s does.
  bool share(Stream &from, const Allocator &memory);

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

  /// Whether pages may be shared.
  bool isForked() const { return forked; }
  /// Held pages of `token` and those behind it which others hold too.
  int64_t sharedFrom(int64_t token) const;
  /// Copy them, so that they can be written. Takes as many free pages.
  void own(int64_t token);

  /// Hold the pages of `tokens` besides those that are held, with which they
  /// are consecutive. All are there by reserve().
  void cover(TokenRange tokens);

  /// Hold the pages of `tokens` and no others, all of which are held.
  void trim(TokenRange tokens);

  /// Bytes of all pages, in use or not: what was needed at most; and of those
  /// that others hold too.
  int64_t heldBytes() const { return pages * bytesOfPage(); }
  int64_t sharedBytes() const {
    return sharedFrom(shape->origin) * bytesOfPage();
  }

private:
  /// What lies before a page.
  struct Header {
    int64_t holders; ///< leaves that have it
    void *next;      ///< the next free page
  };
  static_assert(sizeof(Header) <= KVC_PAGE_HEADER);
  static constexpr int64_t LeafPages = 64;

  static Header &headerOf(void *page);
  int64_t bytesOfPage() const { return shape->page_bytes + KVC_PAGE_HEADER; }
  int64_t leafCount() const {
    return (shape->table_pages + LeafPages - 1) / LeafPages;
  }
  TokenRange entriesOf(int64_t leaf) const;
  void *&entryOf(int64_t page) const {
    return table[page % shape->table_pages];
  }
  int64_t *&leafOf(int64_t page) const {
    return leaves[page % shape->table_pages / LeafPages];
  }
  int64_t firstFrom(int64_t token) const;

  TokenRange pageRange(TokenRange tokens) const;
  bool addPage();
  void *takePage();
  void freePage(void *page);
  bool letGo(void *page);
  void givePage(int64_t page);
  bool isShared(int64_t page) const;
  void splitLeaf(int64_t page);

  const kvc_gen_stream *shape;
  const Allocator *memory;
  void **table;
  int64_t **leaves;   ///< how many hold each leaf; null: this stream alone
  void *freePages;    ///< linked through their headers
  int64_t begin, end; ///< pages held, counted from the origin's
  int64_t pages;      ///< pages held and free
  bool forked;        ///< pages may be shared
};

} // namespace kvc::runtime

#endif // KVC_RUNTIME_PAGES_H
