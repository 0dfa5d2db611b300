//===- LyingLibrary.h - the lies of a library made by hand ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_LYINGLIBRARY_H
#define KVC_TEST_UNIT_LYINGLIBRARY_H

namespace kvc::test {

enum class Lie {
  None,
  Out,                ///< one step's output is a thousandth too large
  NotFinite,          ///< one step's output is NaN
  Lse,                ///< one step's lse is 1e-3 too large
  WrongHead,          ///< query heads read the wrong kv heads
  OneRotation,        ///< sinks are met by the window's query
  EvictsLate,         ///< one token more is stored
  KeyBit,             ///< one key's last bit is wrong
  Position,           ///< one position is wrong
  Saturated,          ///< something saturated that did not
  Used,               ///< four bytes too many are said to be used
  Held,               ///< fewer bytes are said to be held than are used
  HeldPage,           ///< a page is said to be held that no token needs
  Padding,            ///< a byte too many is said to be padding
  TakesNan,           ///< a bad number in v is taken
  AnyOrder,           ///< a wrong position is taken
  NeverFull,          ///< a token beyond the context is taken
  RefusalChanges,     ///< a refused call changes a value
  TruncateLate,       ///< one token more stays
  TruncateGone,       ///< goes back to what is gone
  NoText,             ///< a refusal says nothing
  ForkChanges,        ///< a fork has one value that is another
  SaveForgets,        ///< a snapshot lacks a value
  SaveRemembers,      ///< a snapshot tells what came before
  LoadTakesAll,       ///< a damaged snapshot is taken
  RefusedLoadChanges, ///< one that is refused changes a value
  SavesForAll,        ///< a file that others may read
  LoadsFolder,        ///< a folder is called a damaged snapshot
  ResetForgets,       ///< a reset leaves a layer as it was
  Count,
  // These end the process.
  Crash,       ///< one step writes where nothing is
  FeelsFloats, ///< its caller's float settings are what it computes under
  LeavesFloats ///< a decode leaves another rounding
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_LYINGLIBRARY_H
