//===- LowerRows.cpp - rows of q, k and out, and tiles of them ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialect/KVFloats.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kvc {

/// Runs `body` on every vector of `rows` x `columns`; the last one reaches
/// into the padding.
static void forVectors(Lanes &at, int64_t rows, int64_t columns,
                       llvm::function_ref<void(Value row, Value column)> body) {
  at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
    at.loop(at.index(0), at.index(columns), at.lanes, {},
            [&](Value column, ValueRange) {
              body(row, column);
              return SmallVector<Value>{};
            });
    return SmallVector<Value>{};
  });
}

/// Runs `body` on every element of columns [from, to).
static void
forElements(Lanes &at, int64_t rows, int64_t from, int64_t to,
            llvm::function_ref<void(Value row, Value column)> body) {
  at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
    at.loop(at.index(from), at.index(to), {}, [&](Value column, ValueRange) {
      body(row, column);
      return SmallVector<Value>{};
    });
    return SmallVector<Value>{};
  });
}

/// Whether nothing but `op` will read a tile of its block any more, so that it
/// may be written over. What came before has read it, or copied it.
static bool isLastUse(Value tile, Operation *op) {
  Operation *made = tile.getDefiningOp();
  return made && made->getBlock() == op->getBlock() &&
         isa<kv::RowsOp, kv::RotateOp>(made) &&
         llvm::all_of(tile.getUsers(), [&](Operation *user) {
           return user == op || (isa<kv::RotateOp>(user) &&
                                 user->getBlock() == op->getBlock() &&
                                 user->isBeforeInBlock(op));
         });
}

namespace {

struct LowerRows : TilePattern<kv::RowsOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::RowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::TileType type = op.getTile().getType();
    Value tile = at.allocate(types().convertTile(type));
    // The buffer ends at its last column: what is no whole vector goes one by
    // one.
    const int64_t whole = type.getColumns() / lanes * lanes;
    forVectors(at, type.getRows(), whole, [&](Value row, Value column) {
      Value value =
          at.load(adaptor.getBuffer(), place(at, op, adaptor, row, column));
      at.store(kv::buildWiden(rewriter, op.getLoc(), value), tile, row, column);
    });
    forElements(at, type.getRows(), whole, type.getColumns(),
                [&](Value row, Value column) {
                  Value value = at.loadScalar(
                      adaptor.getBuffer(), place(at, op, adaptor, row, column));
                  at.storeScalar(kv::buildWiden(rewriter, op.getLoc(), value),
                                 tile, row, column);
                });
    rewriter.replaceOp(op, tile);
    return success();
  }

  /// Where in the buffer an element of the tile lies. Rows of tokens that are
  /// not there are taken from the last one that is.
  static SmallVector<Value> place(Lanes &at, kv::RowsOp op, OpAdaptor adaptor,
                                  Value row, Value column) {
    if (!op.getEach())
      return {at.add(adaptor.getRow(), row), column};
    const auto each = static_cast<int64_t>(*op.getEach());
    Value last = at.subtract(adaptor.getCount(), at.index(1));
    return {at.least(at.divide(row, each), last),
            at.add(adaptor.getRow(), at.remainder(row, each)), column};
  }
};

struct LowerScale : TilePattern<kv::ScaleOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::ScaleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::TileType type = op.getTile().getType();
    Value tile = isLastUse(op.getTile(), op)
                     ? adaptor.getTile()
                     : at.allocate(types().convertTile(type));
    Value factor = at.number(op.getFactor().convertToFloat());
    forVectors(at, type.getRows(), type.getColumns(),
               [&](Value row, Value column) {
                 Value value = at.load(adaptor.getTile(), row, column);
                 at.store(at.multiplyF(value, factor), tile, row, column);
               });
    rewriter.replaceOp(op, tile);
    return success();
  }
};

/// y0 = (x0 c) - (x1 s), y1 = (x0 s) + (x1 c), one rounding an operation.
/// Element by element, since a point may pair any columns: a row is rotated
/// once a step, and what is stored met often.
struct LowerRotate : TilePattern<kv::RotateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::RotateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    auto position = cast<kv::PositionAttrInterface>(op.getPosition());
    kv::TileType type = op.getTile().getType();
    Value tile = adaptor.getTile();
    // Columns that no pair has stay.
    if (form.runApart() || !isLastUse(op.getTile(), op)) {
      tile = at.allocate(types().convertTile(type));
      forVectors(at, type.getRows(), type.getColumns(),
                 [&](Value row, Value column) {
                   Value x = at.load(adaptor.getTile(), row, column);
                   at.store(x, tile, row, column);
                 });
    }
    const int64_t pairs = position.getPairs();
    if (auto stride = strideOf(position)) {
      at.loop(at.index(0), at.index(type.getRows()), {},
              [&](Value row, ValueRange) {
                at.loop(at.index(0), at.index(pairs), {},
                        [&](Value pair, ValueRange) {
                          rotate(at, adaptor, tile, row, pair,
                                 at.add(at.multiply(pair, stride->step),
                                        stride->first),
                                 at.add(at.multiply(pair, stride->step),
                                        stride->second),
                                 op.getExact());
                          return SmallVector<Value>{};
                        });
                return SmallVector<Value>{};
              });
    } else {
      at.loop(at.index(0), at.index(type.getRows()), {},
              [&](Value row, ValueRange) {
                for (int64_t pair = 0; pair < pairs; ++pair) {
                  auto [first, second] = position.getPairDims(pair);
                  rotate(at, adaptor, tile, row, at.index(pair),
                         at.index(first), at.index(second), op.getExact());
                }
                return SmallVector<Value>{};
              });
    }
    rewriter.replaceOp(op, tile);
    return success();
  }

  /// Pair i is columns (first + step i, second + step i).
  struct Stride {
    int64_t first, second, step;
  };
  static std::optional<Stride> strideOf(kv::PositionAttrInterface position) {
    auto [first, second] = position.getPairDims(0);
    int64_t step = 1;
    if (position.getPairs() > 1)
      step = position.getPairDims(1).first - first;
    for (int64_t pair = 0; pair < position.getPairs(); ++pair)
      if (position.getPairDims(pair) !=
          std::pair<int64_t, int64_t>{first + step * pair,
                                      second + step * pair})
        return std::nullopt;
    return Stride{first, second, step};
  }

  /// a b + c d with the errors of both products and of the sum added back
  /// (Ogita, Rump and Oishi 2005, algorithm Dot2).
  static Value sumOfProducts(Lanes &at, Value a, Value b, Value c, Value d) {
    auto minus = [&](Value x) -> Value {
      return arith::NegFOp::create(at.builder, at.loc, x);
    };
    auto fma = [&](Value a, Value b, Value c) -> Value {
      return math::FmaOp::create(at.builder, at.loc, a, b, c);
    };
    Value p = at.multiplyF(a, b), q = at.multiplyF(c, d);
    Value first = fma(a, b, minus(p)), second = fma(c, d, minus(q));
    Value errors = at.addF(first, second);
    Value sum = at.addF(p, q);
    Value part = at.subtractF(sum, p);
    Value ofP = at.subtractF(p, at.subtractF(sum, part));
    Value lost = at.addF(ofP, at.subtractF(q, part));
    return at.addF(sum, at.addF(errors, lost));
  }

  static void rotate(Lanes &at, OpAdaptor adaptor, Value tile, Value row,
                     Value pair, Value first, Value second, bool exact) {
    // Angles of their own for each token, or the same for all rows.
    auto angles = cast<MemRefType>(adaptor.getAngles().getType());
    const int64_t rows = cast<MemRefType>(tile.getType()).getDimSize(0);
    auto angle = [&](int64_t which) -> Value {
      SmallVector<Value> place{at.index(which), pair};
      if (angles.getRank() == 3)
        place.insert(place.begin(),
                     at.divide(row, rows / angles.getDimSize(0)));
      return memref::LoadOp::create(at.builder, at.loc, adaptor.getAngles(),
                                    place);
    };
    Value cosine = angle(0), sine = angle(1);
    Value x0 = at.loadScalar(adaptor.getTile(), row, first);
    Value x1 = at.loadScalar(adaptor.getTile(), row, second);
    Value y0, y1;
    if (exact) {
      Value minus = arith::NegFOp::create(at.builder, at.loc, sine);
      y0 = sumOfProducts(at, x0, cosine, x1, minus);
      y1 = sumOfProducts(at, x0, sine, x1, cosine);
    } else {
      Value a = at.multiplyF(x0, cosine), b = at.multiplyF(x1, sine);
      y0 = at.subtractF(a, b);
      Value c = at.multiplyF(x0, sine), d = at.multiplyF(x1, cosine);
      y1 = at.addF(c, d);
    }
    at.storeScalar(y0, tile, row, first);
    at.storeScalar(y1, tile, row, second);
  }
};

} // namespace

void populateRowPatterns(const TileTypeConverter &types,
                         RewritePatternSet &patterns) {
  patterns.add<LowerRows, LowerScale, LowerRotate>(types,
                                                   patterns.getContext());
}

} // namespace kvc
