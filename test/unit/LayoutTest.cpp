//===- LayoutTest.cpp - every number of a page has a place of its own -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The addresses are written out here as #kv.layout documents them:
//   pairs [rows][columns], a plane of words for each word of a pair;
//   codes [vectors / v][words][v][lanes], where a word has two codes
//   [vectors / v][words][v][slots][lanes].
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "dialect/KVDialect.h"
#include "dialect/KVLayout.h"
#include "mlir/IR/MLIRContext.h"

#include <vector>

using namespace kvc::kv;

namespace {

/// The bits of a record, each used once at the most.
struct Record {
  explicit Record(const PageLayout &page)
      : page(page), bits(page.recordWords * 32) {}

  bool take(int64_t word, int64_t slot, int64_t width) {
    if (word < 0 || word >= page.recordWords || (slot + 1) * width > 32)
      return false;
    for (int64_t bit = 0; bit < width; ++bit) {
      if (bits[word * 32 + slot * width + bit])
        return false;
      bits[word * 32 + slot * width + bit] = true;
    }
    return true;
  }

  const PageLayout &page;
  std::vector<bool> bits;
};

struct Place {
  int64_t vector, lane, word, slot;
};

Place placeOf(const PageLayout &page, int64_t token, int64_t channel) {
  const int64_t column = page.columnOf(channel);
  const int64_t onLanes = page.tokensOnLanes() ? token : column;
  const int64_t packed = page.tokensOnLanes() ? column : token;
  return {onLanes / page.lanes(), onLanes % page.lanes(),
          packed / page.codesPerWord, packed % page.codesPerWord};
}

/// Of two codes a word: which half of its vector's words.
int64_t halfOf(const PageLayout &page, Place place) {
  return place.slot * page.lanes() + place.lane;
}

int64_t wordOf(const PageLayout &page, Place place) {
  return page.pairWords +
         ((place.vector / page.vectors() * page.words + place.word) *
              page.vectors() +
          place.vector % page.vectors()) *
             page.lanes() +
         (page.slotsApart() ? halfOf(page, place) / 2 : place.lane);
}

int64_t slotOf(const PageLayout &page, Place place) {
  return page.slotsApart() ? halfOf(page, place) % 2 : place.slot;
}

void check(const PageLayout &page) {
  const int64_t tokens = page.layout.getTokens();
  const int64_t channels = page.layout.getChannels();
  const unsigned bits = page.stream.getEncoding().getElementBits();
  Record record(page);

  bool good = CHECK_EQ(page.codesPerWord * bits, 32);
  good &= CHECK_EQ(page.slotsApart(), bits == 16);
  good &= CHECK_EQ(page.vectorCount % page.vectors(), 0);
  good &= CHECK_EQ(page.recordWords % 16, 0);
  good &= CHECK_EQ(page.pairWords % 16, 0);
  good &= CHECK_EQ(page.pageWords, page.recordWords * page.layout.getHeads());

  if (page.block) {
    const int64_t rows = llvm::divideCeil(tokens, page.block->tokens);
    const int64_t columns = llvm::divideCeil(channels, page.block->channels);
    good &= CHECK_EQ(page.pairChannels(), columns);
    for (unsigned plane = 0; plane < page.stream.getEncoding().getPairWords();
         ++plane)
      for (int64_t pair = 0; pair < rows * columns; ++pair) {
        const int64_t word = plane * page.pairPlane + pair;
        good &= CHECK(word < page.pairWords && record.take(word, 0, 32));
      }
  } else {
    good &= CHECK_EQ(page.pairWords, 0);
  }

  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const Place place = placeOf(page, token, channel);
      good &= CHECK(place.vector < page.vectorCount);
      good &= CHECK(place.word < page.words);
      good &=
          CHECK(record.take(wordOf(page, place), slotOf(page, place), bits));
    }

  // Channels of two pairs of a token share no word, or no vector.
  if (page.pairsAlongTokens())
    for (int64_t channel = 1; channel < channels; ++channel) {
      if (channel / page.block->channels ==
          (channel - 1) / page.block->channels)
        continue;
      const Place here = placeOf(page, 0, channel);
      const Place before = placeOf(page, 0, channel - 1);
      good &= CHECK(page.tokensOnLanes() ? here.word != before.word
                                         : here.vector != before.vector);
    }

  if (!good) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << page.stream;
    std::cerr << "  in " << text << "\n";
  }
}

void check(mlir::MLIRContext *context, PrecisionAttrInterface encoding,
           llvm::StringRef lanesOn, int64_t lanes, int64_t vectors,
           int64_t channels, int64_t tokens) {
  for (llvm::StringRef plane : {"keys", "values"}) {
    const int64_t block = channelBlockOf(
        encoding, plane == "keys" ? Plane::Keys : Plane::Values, channels);
    auto layout = LayoutAttr::get(context, /*heads=*/3, tokens, channels, block,
                                  lanesOn, lanes, vectors, /*pages=*/5);
    auto stream =
        StreamAttr::get(context, plane, "code", /*origin=*/4, encoding, layout);
    check(PageLayout(stream));
  }
}

void all(mlir::MLIRContext *context) {
  mlir::Type f16 = mlir::Float16Type::get(context);
  std::vector<PrecisionAttrInterface> encodings{
      FloatPrecisionAttr::get(context, mlir::Float32Type::get(context)),
      FloatPrecisionAttr::get(context, f16)};
  mlir::Type f32 = mlir::Float32Type::get(context);
  for (int64_t bits : {8, 4, 2})
    for (int64_t group : {1, 5, 32})
      for (mlir::Type scales : {f16, f32}) {
        encodings.push_back(
            AffineChannelAttr::get(context, bits, group, group, 0, scales));
        encodings.push_back(
            AffineTokenAttr::get(context, bits, group, 1, 7, scales));
      }
  for (PrecisionAttrInterface encoding : encodings)
    for (int64_t channels : {1, 6, 33, 72})
      for (int64_t lanes : {4, 8})
        for (int64_t vectors : {1, 2}) {
          check(context, encoding, "tokens", lanes, vectors, channels, 64);
          check(context, encoding, "channels", lanes, vectors, channels, 64);
          // Whole words, but no whole vectors, of tokens.
          if (encoding.getElementBits() > 2)
            check(context, encoding, "channels", lanes, vectors, channels, 40);
        }
}

/// Two layouts worked out by hand.
void byHand(mlir::MLIRContext *context) {
  mlir::Type f16 = mlir::Float16Type::get(context);
  auto keys = AffineChannelAttr::get(context, 4, 32, 64, 0, f16);
  auto layout = LayoutAttr::get(context, 3, 64, 12, 12, "tokens", 8, 2, 5);
  PageLayout a(StreamAttr::get(context, "keys", "code", 4, keys, layout));
  CHECK_EQ(a.codesPerWord, 8);
  CHECK_EQ(a.columns, 16); // 12 channels in words of 8
  CHECK_EQ(a.words, 2);
  CHECK_EQ(a.vectorCount, 8); // 64 tokens in vectors of 8
  CHECK_EQ(a.pairPlane, 32);  // 2 groups of 12 channels, to whole lines
  CHECK_EQ(a.pairWords, 32);
  CHECK_EQ(a.recordWords, 160); // 32 + 8 * 2 * 8
  CHECK_EQ(a.pageWords, 480);
  CHECK_EQ(wordOf(a, placeOf(a, 0, 0)), 32);
  CHECK_EQ(wordOf(a, placeOf(a, 9, 0)), 32 + 8 + 1); // lane 1 of vector 1
  CHECK_EQ(wordOf(a, placeOf(a, 0, 8)), 32 + 16);    // word 1
  CHECK_EQ(wordOf(a, placeOf(a, 16, 0)), 32 + 32);   // vector 2
  CHECK_EQ(placeOf(a, 0, 11).slot, 3);
  CHECK_EQ(scalesOf(a.stream).str(), "operand");

  auto values = AffineTokenAttr::get(context, 8, 5, 1, 0, f16);
  layout = LayoutAttr::get(context, 3, 64, 12, 5, "channels", 8, 1, 5);
  PageLayout b(StreamAttr::get(context, "values", "code", 4, values, layout));
  CHECK_EQ(b.codesPerWord, 4);
  CHECK_EQ(b.columns, 24); // blocks of 5, 5 and 2, a vector each
  CHECK_EQ(b.channelBlocks(), 3);
  CHECK_EQ(b.channelsOf(2), 2);
  CHECK_EQ(b.words, 16);
  CHECK_EQ(b.vectorCount, 3);
  CHECK_EQ(b.pairWords, 192);   // 64 tokens of 3 pairs
  CHECK_EQ(b.recordWords, 576); // 192 + 3 * 16 * 8
  CHECK_EQ(b.columnOf(11), 17);
  CHECK_EQ(wordOf(b, placeOf(b, 0, 5)), 192 + 128); // vector 1
  CHECK_EQ(wordOf(b, placeOf(b, 4, 0)), 192 + 8);   // word 1
  CHECK_EQ(scalesOf(b.stream).str(), "operand");

  // Two codes a word: a vector's first slot lies before its second.
  auto half = FloatPrecisionAttr::get(context, f16);
  layout = LayoutAttr::get(context, 3, 64, 5, 5, "tokens", 8, 2, 5);
  PageLayout c(StreamAttr::get(context, "keys", "sink", 0, half, layout));
  CHECK_EQ(c.columns, 6);
  CHECK_EQ(c.words, 3);
  CHECK_EQ(c.recordWords, 192); // 8 * 3 * 8
  CHECK_EQ(wordOf(c, placeOf(c, 0, 0)), 0);
  CHECK_EQ(wordOf(c, placeOf(c, 1, 0)), 0); // lane 1: above lane 0
  CHECK_EQ(slotOf(c, placeOf(c, 1, 0)), 1);
  CHECK_EQ(wordOf(c, placeOf(c, 0, 1)), 4);      // slot 1
  CHECK_EQ(wordOf(c, placeOf(c, 8, 0)), 8);      // vector 1
  CHECK_EQ(wordOf(c, placeOf(c, 5, 4)), 32 + 2); // word 2
  CHECK_EQ(wordOf(c, placeOf(c, 16, 0)), 48);    // vector 2

  // Across the other dimension scales do not vary.
  layout = LayoutAttr::get(context, 3, 64, 12, 5, "tokens", 8, 1, 5);
  CHECK_EQ(scalesOf(StreamAttr::get(context, "keys", "code", 4, values, layout))
               .str(),
           "result");
  CHECK_EQ(scalesOf(StreamAttr::get(context, "values", "code", 4, keys, layout))
               .str(),
           "result");
  auto plain =
      FloatPrecisionAttr::get(context, mlir::Float32Type::get(context));
  CHECK_EQ(scalesOf(StreamAttr::get(context, "keys", "code", 4, plain, layout))
               .str(),
           "none");
}

} // namespace

int main() {
  mlir::MLIRContext context;
  context.loadDialect<KVDialect>();
  all(&context);
  byHand(&context);
  return kvc::test::checkResult();
}
