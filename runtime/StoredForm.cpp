//===- StoredForm.cpp - what two specs store, compared ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/StoredForm.h"

namespace kvc::runtime {

namespace {

/// Some characters of a form, without the end that a text has.
struct Span {
  const char *from;
  int64_t length;
};

bool isEnd(char character) { return character == '\0' || character == '\n'; }

bool startsWith(const char *text, const char *words) {
  for (; *words; ++words, ++text)
    if (*text != *words)
      return false;
  return true;
}

/// What of a form does not fit a text is left out, and the rest of a long span.
void put(Text &text, Span span, int64_t most) {
  char one[] = {'\0', '\0'};
  for (int64_t i = 0; i < span.length && i < most; ++i) {
    char character = span.from[i];
    one[0] = character < ' ' || character > '~' ? '?' : character;
    text << one;
  }
  if (span.length > most)
    text << "...";
}

/// The pieces that differ first: in the first line that does, so that a layer's
/// name is not taken for a piece of another.
void skipEqual(const char *&a, const char *&b) {
  const char *atA = a, *atB = b;
  for (; *atA && *atA == *atB; ++atA, ++atB)
    if (*atA == '\n' || (*atA == ' ' && atA != a && atA[-1] == ';')) {
      a = atA + 1;
      b = atB + 1;
    }
}

Span pieceAt(const char *from) {
  int64_t length = 0;
  while (!isEnd(from[length]) && from[length] != ';')
    ++length;
  return {from, length};
}

/// A parameter as attributes are printed: "name = value" up to ',' or '>'.
struct Parameter {
  Span name, value;
};

/// The parameter of `piece` that has its character `at`; false where that is in
/// none.
bool parameterAt(Span piece, int64_t at, Parameter &parameter) {
  auto begins = [&](int64_t i) {
    return piece.from[i - 1] == '<' ||
           (i > 1 && piece.from[i - 1] == ' ' && piece.from[i - 2] == ',');
  };
  int64_t begin = at;
  while (begin > 0 && !begins(begin))
    --begin;
  int64_t equals = begin;
  while (equals < piece.length && piece.from[equals] != ' ')
    ++equals;
  // A difference in a name is one of two attributes, not of a value.
  if (begin == 0 || equals + 3 > piece.length || at < equals + 3 ||
      !startsWith(piece.from + equals, " = "))
    return false;
  int64_t end = equals + 3;
  while (end < piece.length && piece.from[end] != ',' && piece.from[end] != '>')
    ++end;
  parameter.name = {piece.from + begin, equals - begin};
  parameter.value = {piece.from + equals + 3, end - equals - 3};
  return true;
}

/// The spec's key of the plane that a piece is about; null: of none.
const char *planeOf(Span piece) {
  return startsWith(piece.from, "keys ")     ? "keys"
         : startsWith(piece.from, "values ") ? "values"
                                             : nullptr;
}

} // namespace

void explainOtherForm(Text &text, const char *theirs, const char *ours) {
  constexpr int64_t mostOfPiece = 80, mostOfParameter = 20;
  text << "it was made for another spec: ";
  skipEqual(theirs, ours);
  Span mine = pieceAt(ours), other = pieceAt(theirs);
  int64_t at = 0;
  while (at < mine.length && at < other.length &&
         mine.from[at] == other.from[at])
    ++at;
  const char *plane = planeOf(mine);
  Parameter here, there;
  if (plane && parameterAt(mine, at, here) && parameterAt(other, at, there)) {
    text << "its " << plane << " have ";
    put(text, there.name, mostOfParameter);
    text << ": ";
    put(text, there.value, mostOfParameter);
    text << ", and here ";
    put(text, here.name, mostOfParameter);
    text << ": ";
    put(text, here.value, mostOfParameter);
    text << "; to load it, write ";
    put(text, there.name, mostOfParameter);
    text << ": ";
    put(text, there.value, mostOfParameter);
    text << " in " << plane;
    return;
  }
  put(text, other, mostOfPiece);
  text << "; here it is ";
  put(text, mine, mostOfPiece);
}

} // namespace kvc::runtime
