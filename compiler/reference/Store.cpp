//===- Store.cpp - what a layer keeps of one sequence ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Store.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace kvc::reference {

static size_t number(kv::Plane plane) { return static_cast<size_t>(plane); }

/// Rotates the heads of `k` in f32: one rounding an operation, which the
/// volatile products see to where the compiler would fuse.
static void rotateKey(MutableArrayRef<float> k, int64_t dim,
                      ArrayRef<Rotation::Turn> turns) {
  for (float *head = k.begin(); head != k.end(); head += dim)
    for (auto [a, b, c, s] : turns) {
      const float x0 = head[a], x1 = head[b];
      volatile float x0c = x0 * c, x1s = x1 * s, x0s = x0 * s, x1c = x1 * c;
      head[a] = x0c - x1s;
      head[b] = x0s + x1c;
    }
}

Store::Store(kv::PolicyAttr policy, kv::ShapeAttr shape, int64_t firstPosition)
    : thePolicy(policy), theShape(shape), theRotation(policy.getPosition()),
      first(firstPosition) {}

void Store::append(ArrayRef<float> k, ArrayRef<float> v) {
  SmallVector<float> rotated(k);
  rotateKey(rotated, theShape.getHeadDim(), theRotation.at(first + length));
  Token &token = tokens.emplace_back();
  token.index = length;
  keep(token.planes[number(kv::Plane::Keys)], kv::Plane::Keys, rotated);
  keep(token.planes[number(kv::Plane::Values)], kv::Plane::Values, v);
  longest = std::max(longest, ++length);
}

/// Writes the newest token's values in the form that they are appended in.
void Store::keep(PlaneToken &token, kv::Plane plane, ArrayRef<float> values) {
  auto precision = thePolicy.getPlane(plane);
  auto encoding = length < thePolicy.getTime().getSinks()
                      ? thePolicy.getSinks(plane)
                  : precision.keepsOriginals() ? thePolicy.getResidual()
                                               : precision;
  kv::CodedBlock block = encoding.encode(values);
  saturations += block.saturated;
  for (uint32_t code : block.codes) {
    token.exact.push_back(encoding.decode(code, block.pair));
    token.read.push_back(encoding.read(code, block.pair));
  }
}

void Store::evict() {
  auto time = thePolicy.getTime();
  for (Token &token : tokens)
    if (!time.isLive(token.index, length)) {
      token.goneAt = length;
      gone.push_back(token);
    }
  std::erase_if(
      tokens, [](const Token &token) { return token.goneAt != Token::Never; });
}

void Store::truncate(int64_t at) {
  std::deque<Token> then, before;
  for (std::deque<Token> *part : {&gone, &tokens})
    for (Token &token : *part)
      if (token.index < at)
        (token.goneAt > at ? then : before).push_back(std::move(token));
  llvm::sort(then,
             [](const Token &a, const Token &b) { return a.index < b.index; });
  for (Token &token : then) {
    token.goneAt = Token::Never;
    for (size_t plane : {number(kv::Plane::Keys), number(kv::Plane::Values)})
      if (token.codedAt[plane] != Token::Never && token.codedAt[plane] > at) {
        token.planes[plane] = std::move(token.originals[plane]);
        token.codedAt[plane] = Token::Never;
      }
  }
  tokens = std::move(then);
  gone = std::move(before);
  length = at;
  longest = std::min(longest, at + thePolicy.getRollback());
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values}) {
    auto precision = thePolicy.getPlane(plane);
    if (precision.remakesCodes())
      recodePlane(plane);
    else if (precision.keepsOriginals())
      coded[number(plane)] = precision.codedTokens(
          std::max<int64_t>(0, length - thePolicy.getTime().getSinks()));
  }
}

void Store::beLoaded() {
  longest = length + thePolicy.getRollback();
  saturations = 0;
}

/// The first token that is kept as it was appended at length `at`.
int64_t Store::firstOriginal(kv::Plane plane, int64_t at) const {
  auto precision = thePolicy.getPlane(plane);
  const int64_t sinks = thePolicy.getTime().getSinks();
  const int64_t live = thePolicy.getTime().firstLive(at);
  if (!precision.keepsOriginals() || precision.remakesCodes())
    return live;
  return std::max(
      live, sinks + precision.codedTokens(std::max<int64_t>(0, at - sinks)));
}

bool Store::isHeld(int64_t at, int64_t from, int64_t to) const {
  if (at >= length)
    return true;
  const int64_t back =
      std::min(length, std::max<int64_t>(0, longest - thePolicy.getRollback()));
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values})
    if (thePolicy.getPlane(plane).remakesCodes()) {
      // Codes are made of all that was stored.
      from = 0;
      to = INT64_MAX;
    }
  auto isThere = [&](int64_t begin, int64_t end, int64_t held) {
    begin = std::max(begin, from);
    return begin >= std::min(end, to) || begin >= held;
  };
  // Neither the first token that is stored nor the first that is kept as it was
  // appended ever falls.
  const int64_t live = thePolicy.getTime().firstLive(at);
  const int64_t liveBack = thePolicy.getTime().firstLive(back);
  constexpr kv::Plane planes[] = {kv::Plane::Keys, kv::Plane::Values};
  return llvm::all_of(planes, [&](kv::Plane plane) {
    const int64_t border = firstOriginal(plane, at);
    // Codes, then originals; a float plane has the latter alone.
    return isThere(live, border, liveBack) &&
           isThere(border, at, firstOriginal(plane, back));
  });
}

Moment Store::getMoment(int64_t at) const {
  std::vector<const Token *> found;
  for (const std::deque<Token> *part : {&gone, &tokens})
    for (const Token &token : *part)
      if (token.index < at && token.goneAt > at &&
          (at <= length || thePolicy.getTime().isLive(token.index, at)))
        found.push_back(&token);
  llvm::sort(found, [](const Token *a, const Token *b) {
    return a->index < b->index;
  });
  Moment moment;
  for (const Token *token : found)
    moment.tokens.push_back({token->index,
                             {&token->formAt(kv::Plane::Keys, at),
                              &token->formAt(kv::Plane::Values, at)}});
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values}) {
    if (at >= length || !thePolicy.getPlane(plane).remakesCodes())
      continue;
    SmallVector<const PlaneToken *> originals;
    SmallVector<PlaneToken *> codes;
    for (auto [token, form] : zip(found, moment.tokens)) {
      if (token->index < thePolicy.getTime().getSinks())
        continue;
      originals.push_back(&token->originals[number(plane)]);
      codes.push_back(&moment.made.emplace_back(*originals.back()));
      form.planes[number(plane)] = codes.back();
    }
    remake(plane, originals, codes);
  }
  return moment;
}

void Store::code() {
  codePlane(kv::Plane::Keys);
  codePlane(kv::Plane::Values);
}

/// Codes the tokens of one plane between the old border and the new one, block
/// by block: blocks are counted from the first token that is no sink.
void Store::codePlane(kv::Plane plane) {
  auto precision = thePolicy.getPlane(plane);
  if (!precision.keepsOriginals())
    return;
  if (precision.remakesCodes())
    return recodePlane(plane);
  const int64_t sinks = thePolicy.getTime().getSinks();
  const int64_t dim = theShape.getDim(plane);
  const int64_t begin = coded[number(plane)];
  const int64_t end =
      precision.codedTokens(std::max<int64_t>(0, length - sinks));
  if (end <= begin)
    return;
  coded[number(plane)] = end;
  const kv::ScaleBlock shape =
      precision.getBlock(dim).value_or(kv::ScaleBlock{1, dim});

  auto at = llvm::lower_bound(
      tokens, sinks + begin,
      [](const Token &token, int64_t index) { return token.index < index; });
  while (at != tokens.end() && at->index < sinks + end) {
    const int64_t blockNumber = (at->index - sinks) / shape.tokens;
    SmallVector<Token *> block;
    for (; at != tokens.end() && at->index < sinks + end &&
           (at->index - sinks) / shape.tokens == blockNumber;
         ++at)
      block.push_back(&*at);
    for (int64_t head = 0; head < theShape.getKvHeads(); ++head)
      for (int64_t c = 0; c < dim; c += shape.channels)
        codeBlock(precision, plane, block, head * dim + c,
                  head * dim + std::min(dim, c + shape.channels));
  }
}

/// Codes the values [begin, end) of the tokens of one block together.
void Store::codeBlock(kv::PrecisionAttrInterface precision, kv::Plane plane,
                      ArrayRef<Token *> block, int64_t begin, int64_t end) {
  SmallVector<float> values;
  for (Token *token : block) {
    if (token->codedAt[number(plane)] == Token::Never) {
      token->originals[number(plane)] = token->planes[number(plane)];
      token->codedAt[number(plane)] = length;
    }
    const auto &read = token->planes[number(plane)].read;
    values.append(read.begin() + begin, read.begin() + end);
  }
  const auto [least, greatest] =
      std::minmax_element(values.begin(), values.end());
  const double spread = double(*greatest) - double(*least);
  kv::CodedBlock coded = precision.encode(values);
  saturations += coded.saturated;
  const uint32_t *code = coded.codes.begin();
  for (Token *token : block) {
    PlaneToken &kept = token->planes[number(plane)];
    for (int64_t i = begin; i < end; ++i, ++code) {
      kept.exact[i] = precision.decode(*code, coded.pair);
      kept.read[i] = precision.read(*code, coded.pair);
    }
    kept.coded = true;
    kept.spread.resize(kept.exact.size());
    std::fill(kept.spread.begin() + begin, kept.spread.begin() + end, spread);
  }
}

/// Codes all tokens of a plane that are stored beyond the sinks.
void Store::recodePlane(kv::Plane plane) {
  SmallVector<const PlaneToken *> originals;
  SmallVector<PlaneToken *> codes;
  for (Token &token : tokens) {
    if (token.index < thePolicy.getTime().getSinks())
      continue;
    if (token.codedAt[number(plane)] == Token::Never) {
      token.originals[number(plane)] = token.planes[number(plane)];
      token.codedAt[number(plane)] = length;
    }
    originals.push_back(&token.originals[number(plane)]);
    codes.push_back(&token.planes[number(plane)]);
  }
  remadeSaturations[number(plane)] = remake(plane, originals, codes);
}

/// Makes codes of the tokens, one block a channel; how many scales and zeros
/// saturate.
int64_t Store::remake(kv::Plane plane, ArrayRef<const PlaneToken *> originals,
                      ArrayRef<PlaneToken *> codes) const {
  auto precision = thePolicy.getPlane(plane);
  const int64_t channels = theShape.getKvHeads() * theShape.getDim(plane);
  int64_t saturated = 0;
  SmallVector<float> values(originals.size());
  for (int64_t channel = 0; channel < channels && !originals.empty();
       ++channel) {
    for (auto [value, original] : zip(values, originals))
      value = original->read[channel];
    const auto [least, greatest] =
        std::minmax_element(values.begin(), values.end());
    const double spread = double(*greatest) - double(*least);
    const kv::CodedBlock coded = precision.encode(values);
    saturated += coded.saturated;
    for (auto [kept, code] : zip(codes, coded.codes)) {
      kept->exact[channel] = precision.decode(code, coded.pair);
      kept->read[channel] = precision.read(code, coded.pair);
      kept->coded = true;
      kept->spread.resize(channels);
      kept->spread[channel] = spread;
    }
  }
  return saturated;
}

} // namespace kvc::reference
