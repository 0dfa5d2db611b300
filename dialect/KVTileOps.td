//===- KVTileOps.td - the tile level: how ------------------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVTILEOPS_TD
#define KVC_DIALECT_KVTILEOPS_TD

include "dialect/KVCacheOps.td"

// A *run* is what a kernel takes at a time: tokens that lie in one page of the
// keys' stream and in one of the values', and in one block of scales of each.
// Lanes want whole vectors, so its columns begin at a vector border: the run's
// first token `%token` is column `%lead`, and it has `%count` columns in all.
// Columns before `%lead` hold other tokens; kv.mask takes them out.
//
//     run %token, %lead, %count

class KV_TileOp<string opMnemonic, list<Trait> traits = []>
    : KV_Op<opMnemonic, traits>;

// Whether scales go into the operand or into the result; see kv.fold.
def KV_Scales : StringBasedAttr<
    CPred<"::llvm::is_contained({\"none\", \"operand\", \"result\"}, "
          "::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "none, operand or result">;

//===----------------------------------------------------------------------===//
// Pages and buffers
//===----------------------------------------------------------------------===//

def KV_PageOp : KV_TileOp<"page"> {
  let summary = "the page of a stream that holds a token";
  let description = [{
    `%p = kv.page %view[1] at %token : !kv.page<#stream1>`
  }];
  let arguments = (ins KV_ViewType:$view, I64Attr:$stream, Index:$token);
  let results = (outs KV_PageType:$page);
  let assemblyFormat = "$view `[` $stream `]` `at` $token attr-dict `:` type($page)";
  let hasVerifier = 1;
}

def KV_RowsOp : KV_TileOp<"rows"> {
  let summary = "rows of a buffer as a tile";
  let description = [{
    As many rows as the tile has, from row `row` on, exactly: the buffer is of
    f32, f16 or bf16.
    `%k = kv.rows %buffer[%head] : memref<3x64xf32> -> !kv.tile<1x64>`

    Of a buffer of `count` tokens `each` rows a token, from row `row` of the
    token on: row r of the tile is of token r / each. A tile may have room for
    more tokens than there are; what it holds beyond them is some token's.
    `%q = kv.rows %buffer[%row] of %count each 3 : memref<?x9x64xf32> -> !kv.tile<48x64>`
  }];
  let arguments = (ins AnyMemRef:$buffer, Index:$row, Optional<Index>:$count,
                       OptionalAttr<I64Attr>:$each);
  let results = (outs KV_TileType:$tile);
  let assemblyFormat = [{
    $buffer `[` $row `]` (`of` $count^ `each` $each)? attr-dict
    `:` type($buffer) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def KV_RotateOp : KV_TileOp<"rotate", [AllTypesMatch<["tile", "result"]>]> {
  let summary = "turn pairs of columns by a table of angles";
  let description = [{
    `angles` is [2, pairs]: cosines, then sines; or [tokens, 2, pairs], where
    the tile has as many rows for each of the tokens. y0 = x0 c - x1 s, y1 = x0 s +
    x1 c (Su et al. 2021, section 3.4.2). `position` says which columns are a
    pair. Keys take one rounding an operation, which is part of their
    definition. A query is `exact`: its result is off by little more than its
    own rounding, also where the two products cancel.

    `%r = kv.rotate %k as #position by %angles : memref<2x32xf32>, !kv.tile<1x64>`
  }];
  let arguments = (ins KV_TileType:$tile, AnyMemRef:$angles, AnyAttr:$position,
                       UnitAttr:$exact);
  let results = (outs KV_TileType:$result);
  let assemblyFormat = [{
    $tile `as` $position `by` $angles (`exact` $exact^)? attr-dict `:` type($angles) `,` type($tile)
  }];
  let hasVerifier = 1;
}

def KV_ScaleOp : KV_TileOp<"scale", [AllTypesMatch<["tile", "result"]>]> {
  let summary = "multiply a tile by a number";
  let description = [{ `%r = kv.scale %q by 1.25e-01 : !kv.tile<3x64>` }];
  let arguments = (ins KV_TileType:$tile, F32Attr:$factor);
  let results = (outs KV_TileType:$result);
  let assemblyFormat = "$tile `by` $factor attr-dict `:` type($tile)";
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

def KV_ArrangeOp : KV_TileOp<"arrange"> {
  let summary = "make a query ready to meet the codes of a stream";
  let description = [{
    Gives the tile's columns in the order in which the stream keeps channels.
    With `sums`, also the sum of each block of channels, which zeros are to be
    multiplied with (see `kv.fold`). Nothing of it depends on a page.

    An operand of i16 or i8 is whole numbers, as `kv.fold` has them; `sums` are
    then the terms of each block. Whether they are fine enough depends on a
    page's scales: see `kv.fits`.

    `%o, %z = kv.arrange %q for #stream1 : !kv.tile<3x64> -> !kv.tile<3x64>, !kv.tile<3x2>`
  }];
  let arguments = (ins KV_TileType:$tile, KV_StreamAttr:$stream);
  let results = (outs KV_TileType:$operand, Optional<KV_TileType>:$sums);
  let assemblyFormat = [{
    $tile `for` $stream attr-dict `:` type($tile) `->` type($operand) (`,` type($sums)^)?
  }];
  let hasVerifier = 1;
}

def KV_FitsOp : KV_TileOp<"fits"> {
  let summary = "whether a query's whole numbers are fine enough for a run";
  let description = [{
    `terms` are those of a `kv.arrange` to i16. A remainder of half a step meets
    half the codes times the token's scale, in each channel. Where all that
    comes to more than 0.1 (`kv::Integers::MostLost`) for some token of the run,
    an outlier's scale or an unscaled query, the run goes in f32.

    `%ok = kv.fits %z from %page head %h run %t, %lead, %n : !kv.tile<3x10>, !kv.page<#stream1>`
  }];
  let arguments = (ins KV_TileType:$terms, KV_PageType:$page, Index:$head,
                       Index:$token, Index:$lead, Index:$count);
  let results = (outs I1:$fits);
  let assemblyFormat = [{
    $terms `from` $page `head` $head `run` $token `,` $lead `,` $count attr-dict
    `:` type($terms) `,` type($page)
  }];
  let hasVerifier = 1;
}

def KV_FoldOp : KV_TileOp<"fold", [AttrSizedResultSegments]> {
  let summary = "fold a run's scales and zeros into an operand";
  let description = [{
    The one rule of scales. A code stands for code * scale + zero. With the
    *center* c, the whole number nearest to -zero / scale among the codes, and
    the *rest* r = zero + c * scale it stands for (code - c) * scale + r, so

        sum(w x') = sum(w scale (code - c)) + sum(w r),

    where no term is more than twice what it stands for: zeros that are large
    beside what is stored cancel nothing. A scale that varies along the
    contracted dimension is multiplied into the operand (`scales "operand"`),
    any other into the result, by `kv.contract` or `kv.accumulate`
    (`"result"`). Rests become `sums` likewise: of operand times rest, or of
    the operand alone. `centers` has the centers of an operand's columns; with
    scales in the result they follow from the page.

    Keys are contracted over channels: the operand is the query, a row a head.
    Values are contracted over tokens: the operand is the softmax's weights,
    and becomes a row for each head and block of channels.

    ```mlir
    %o, %z, %c = kv.fold %q from %page head %h run %t, %lead, %n scales "operand"
      : !kv.tile<3x64>, !kv.page<#stream1> -> !kv.tile<3x64>, !kv.tile<3x1>, !kv.tile<1x64>
    ```

    An operand of i16 or i8 is whole numbers: what would be x is n * step + e,
    where a step is the largest |x| of the row (and block) over the largest n.
    Then sum(n code) is a sum of integers, and what the remainders e weigh with
    the middle code goes into the zeros:

        sum(x code) = step sum(n code) + middle sum(e) + sum(e (code - middle)),

    of which the last is left out; with two numbers a weight, below, that of
    the middle code too. `sums` become *terms*, a few numbers for each
    row and block (`kv::Terms`): the step, the sum that zeros make, with scales in
    the result sum(e) and sum(n) too. The softmax's weights that meet i16
    without a scale have a second row of numbers, for what the first leaves:
    a value may be as much larger than another as its weight is smaller.

    `fits` tells whether numbers are fine enough. A query's are where no logit
    can lose more than 0.1, as `kv.fits` has it. A block with the least scale
    there is may spread over few codes or one, so that its scale says nothing of
    how much its numbers differ: steps must follow from other scales, or be
    small besides. Weights in two
    numbers fit where none but 0 is less than 2^-19 of its row's largest: all
    codes of a block may be the center but one, whose value is as large as its
    weight is small. Where not, the run goes in f32.

    ```mlir
    %o, %z, %ok = kv.fold %q from %page head %h run %t, %lead, %n scales "operand"
      : !kv.tile<3x64>, !kv.page<#stream1> -> !kv.tile<3x64, i16>, !kv.tile<3x5> fits i1
    ```
  }];
  let arguments = (ins KV_TileType:$tile, KV_PageType:$page, Index:$head,
                       Index:$token, Index:$lead, Index:$count,
                       KV_Scales:$scales);
  let results = (outs KV_TileType:$operand, KV_TileType:$sums,
                      Optional<KV_TileType>:$centers, Optional<I1>:$fits);
  let assemblyFormat = [{
    $tile `from` $page `head` $head `run` $token `,` $lead `,` $count
    `scales` $scales attr-dict
    `:` type($tile) `,` type($page) `->` type($operand) `,` type($sums)
    (`,` type($centers)^)? (`fits` type($fits)^)?
  }];
  let hasVerifier = 1;
}

def KV_ContractOp : KV_TileOp<"contract", [AttrSizedOperandSegments]> {
  let summary = "dot products of an operand's rows with a run's keys";
  let description = [{
    One row a head, one column a token of the run. Without `scales` the
    operand is the query as it is; `kv-fold-scales` makes it ready. An operand of
    whole numbers meets codes as integers, and `zeros` are its terms.

    ```mlir
    %s = kv.contract %o zeros %z centers %c with %page head %h run %t, %lead, %n
      scales "operand"
      : !kv.tile<3x64>, !kv.page<#stream1> zeros !kv.tile<3x1> centers !kv.tile<1x64>
      -> !kv.tile<3x64>
    ```

    `ahead %next at %u` names the page and the first token of a run that comes
    later: its lines are asked for as this run's are read.
  }];
  let arguments = (ins KV_TileType:$operand, Optional<KV_TileType>:$sums,
                       Optional<KV_TileType>:$centers, KV_PageType:$page, Index:$head, Index:$token,
                       Index:$lead, Index:$count, Optional<KV_PageType>:$ahead,
                       Optional<Index>:$ahead_token, OptionalAttr<KV_Scales>:$scales,
                       OptionalAttr<KV_ScheduleAttr>:$schedule);
  let results = (outs KV_TileType:$result);
  let assemblyFormat = [{
    $operand (`zeros` $sums^)? (`centers` $centers^)? `with` $page `head` $head
    `run` $token `,` $lead `,` $count (`ahead` $ahead^ `at` $ahead_token)?
    (`scales` $scales^)? (`schedule` $schedule^)? attr-dict
    `:` type($operand) `,` type($page) (`ahead` type($ahead)^)? (`zeros` type($sums)^)?
    (`centers` type($centers)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def KV_AccumulateOp : KV_TileOp<"accumulate", [AttrSizedOperandSegments]> {
  let summary = "add a run's values, weighed, to a softmax's accumulator";
  let description = [{
    acc = acc * rescale + sum over the run of weight times value. Without
    `scales` the operand is the weights as they are. An operand of whole numbers
    is what it is for `kv.contract`, and `ahead` too.

    ```mlir
    %2 = kv.accumulate %o zeros %z centers %c with %page head %h run %t, %lead, %n
      into %1 rescale %alpha scales "operand" : ...
    ```
  }];
  let arguments = (ins KV_TileType:$operand, Optional<KV_TileType>:$sums,
                       Optional<KV_TileType>:$centers, KV_PageType:$page, Index:$head, Index:$token,
                       Index:$lead, Index:$count, Optional<KV_PageType>:$ahead,
                       Optional<Index>:$ahead_token, KV_StateType:$state,
                       Optional<KV_TileType>:$rescale,
                       OptionalAttr<KV_Scales>:$scales,
                       OptionalAttr<KV_ScheduleAttr>:$schedule);
  let results = (outs KV_StateType:$next);
  let assemblyFormat = [{
    $operand (`zeros` $sums^)? (`centers` $centers^)? `with` $page `head` $head
    `run` $token `,` $lead `,` $count (`ahead` $ahead^ `at` $ahead_token)?
    `into` $state (`rescale` $rescale^)? (`scales` $scales^)? (`schedule` $schedule^)? attr-dict
    `:` type($operand) `,` type($page) (`ahead` type($ahead)^)? `,` type($state)
    (`zeros` type($sums)^)? (`centers` type($centers)^)? (`rescale` type($rescale)^)? `->` type($next)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

def KV_LogitOp : KV_TileOp<"logit", [AllTypesMatch<["tile", "result"]>]> {
  let summary = "what a score point does to a run's dot products";
  let description = [{
    The tile has `each` rows a token that asks. The region is given the token's
    number among them and yields the index that it asks at. Row r is query head
    `head` + r % each; column c's key lies index - (`token` - `lead` + c)
    before the query.

    Where the region yields a distance as well, logits are counted from it: the
    point is given what the key's distance exceeds it by. kv.settle_state puts
    that right.

    ```mlir
    %l = kv.logit %s by #score head %h run %t, %lead, %n each 3 at {
    ^bb0(%row: index):
      kv.yield %index : index
    } : !kv.tile<48x64>
    ```
  }];
  let arguments = (ins KV_TileType:$tile, AnyAttr:$score, Index:$head,
                       Index:$token, Index:$lead, Index:$count, I64Attr:$each);
  let regions = (region SizedRegion<1>:$index);
  let results = (outs KV_TileType:$result);
  let assemblyFormat = [{
    $tile `by` $score `head` $head `run` $token `,` $lead `,` $count
    `each` $each `at` $index attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

def KV_MaskOp : KV_TileOp<"mask", [AllTypesMatch<["tile", "result"]>]> {
  let summary = "minus infinity in all columns but those that a row attends to";
  let description = [{
    Columns `lead` to `count` - 1 stay, which are the run's.
    `%m = kv.mask %s run %t, %lead, %n : !kv.tile<3x64>`

    Where tokens that ask have borders of their own, `each` rows a token, the
    region is given the token's number and yields the first token that it
    attends to and the one behind the last. `whole` is true where the run lies
    within the borders of all of them.

    ```mlir
    %m = kv.mask %s run %t, %lead, %n unless %whole each 3 but {
    ^bb0(%row: index):
      kv.yield %begin, %end : index, index
    } : !kv.tile<48x64>
    ```
  }];
  let arguments = (ins KV_TileType:$tile, Index:$token, Index:$lead,
                       Index:$count, Optional<I1>:$whole,
                       OptionalAttr<I64Attr>:$each);
  let regions = (region MaxSizedRegion<1>:$borders);
  let results = (outs KV_TileType:$result);
  let assemblyFormat = [{
    $tile `run` $token `,` $lead `,` $count
    (`unless` $whole^ `each` $each `but` $borders)? attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

def KV_InitStateOp : KV_TileOp<"init_state", [AttrSizedOperandSegments]> {
  let summary = "a softmax over nothing: m = -inf, l = 0, acc = 0";
  let description = [{
    With `logits` it is one over a logit a row, without a value: m = the logit,
    l = 1, acc = 0. The state has `each` rows a token; row r has logit
    `head` + r % each. One of minus infinity is none.

    `%0 = kv.init_state from %sinks[%head] each 3 : !kv.state<48x64> from memref<9xf32>`
  }];
  let arguments = (ins Optional<AnyMemRef>:$logits, Optional<Index>:$head,
                       OptionalAttr<I64Attr>:$each);
  let results = (outs KV_StateType:$state);
  let assemblyFormat = [{
    (`from` $logits^ `[` $head `]` `each` $each)? attr-dict `:` type($state)
    (`from` type($logits)^)?
  }];
  let hasVerifier = 1;
}

def KV_SoftmaxUpdateOp : KV_TileOp<"softmax_update", [
    AllTypesMatch<["tile", "weights"]>, AllTypesMatch<["state", "next"]>]> {
  let summary = "take a run's logits into a softmax";
  let description = [{
    m' = max(m, logits), weights = exp(logits - m'), alpha = exp(m - m'),
    l' = l alpha + sum of weights. The accumulator is left to kv.accumulate,
    which multiplies it by alpha (Milakov and Gimelshein 2018, algorithm 3).
    A row whose logits are all minus infinity stays as it was.

    `%w, %alpha, %1 = kv.softmax_update %m, %0 columns %n : !kv.tile<3x64>, !kv.state<3x64> -> !kv.tile<3x1>`
  }];
  let arguments = (ins KV_TileType:$tile, KV_StateType:$state, Index:$count);
  let results = (outs KV_TileType:$weights, KV_TileType:$alpha,
                      KV_StateType:$next);
  let assemblyFormat = [{
    $tile `,` $state `columns` $count attr-dict
    `:` type($tile) `,` type($state) `->` type($alpha)
  }];
}

def KV_LoadStateOp : KV_TileOp<"load_state"> {
  let summary = "a softmax that was finished, as one under way";
  let description = [{
    Part `part` has out [rows, columns] and lse [rows], in f32; rows are taken
    from `row` on. m = lse, l = 1, acc = out; where lse is minus infinity, a
    softmax over nothing.
    `%s = kv.load_state %parts[%i] at %row : !kv.state<3x64>`
  }];
  let arguments = (ins KV_PartsType:$parts, Index:$part, Index:$row);
  let results = (outs KV_StateType:$state);
  let assemblyFormat = "$parts `[` $part `]` `at` $row attr-dict `:` type($state)";
}

def KV_MergeStateOp : KV_TileOp<"merge_state", [
    AllTypesMatch<["state", "other", "next"]>]> {
  let summary = "the softmax over the tokens of both";
  let description = [{
    m' = max(m, m2); l' = l exp(m - m') + l2 exp(m2 - m'), acc likewise. A
    softmax over nothing changes nothing, to the bit.
    `%s = kv.merge_state %a, %b : !kv.state<3x64>`
  }];
  let arguments = (ins KV_StateType:$state, KV_StateType:$other);
  let results = (outs KV_StateType:$next);
  let assemblyFormat = "$state `,` $other attr-dict `:` type($state)";
}

def KV_SettleStateOp : KV_TileOp<"settle_state", [
    AllTypesMatch<["state", "next"]>]> {
  let summary = "a softmax whose logits were counted from a distance";
  let description = [{
    m' = what `score` makes of m at the distance that the region yields of a
    token that asks, of which each has `each` rows; row r is query head `head` +
    r % each. A softmax over nothing stays one.

    With `logits` there is one logit more, as kv.init_state has them: it is
    joined while the others are counted from their distance, so that neither
    loses to the other's size.

    ```mlir
    %1 = kv.settle_state %0 by #score head %h each 3 at {
    ^bb0(%row: index):
      kv.yield %distance : index
    } : !kv.state<48x64>
    ```
  }];
  let arguments = (ins KV_StateType:$state, AnyAttr:$score, Index:$head,
                       I64Attr:$each, Optional<AnyMemRef>:$logits);
  let regions = (region SizedRegion<1>:$distance);
  let results = (outs KV_StateType:$next);
  let assemblyFormat = [{
    $state `by` $score `head` $head `each` $each (`with` $logits^)?
    `at` $distance attr-dict `:` type($state) (`with` type($logits)^)?
  }];
  let hasVerifier = 1;
}

def KV_FinishOp : KV_TileOp<"finish"> {
  let summary = "acc / l, and m + ln l";
  let description = [{
    The state has `each` rows a token, of which there are `count`: row r goes to
    row `row` + r % each of token r / each. Where nothing was taken in: zeros
    and minus infinity. `out` is of f32, f16 or bf16: rounded once, to nearest
    even, and within its finite range.
    `kv.finish %s to %out[%row] of %count each 3, %lse : !kv.state<48x64>, memref<?x9x64xf32>, memref<?x9xf32>`
  }];
  let arguments = (ins KV_StateType:$state, AnyMemRef:$out, Index:$row,
                       Index:$count, I64Attr:$each, AnyMemRef:$lse);
  let assemblyFormat = [{
    $state `to` $out `[` $row `]` `of` $count `each` $each `,` $lse attr-dict
    `:` type($state) `,` type($out) `,` type($lse)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Storing and reading
//===----------------------------------------------------------------------===//

def KV_EncodeOp : KV_TileOp<"encode"> {
  let summary = "write one token of one head to a page";
  let description = [{
    The page's encoding has no pairs. Gives how many values saturated.
    `%n = kv.encode %row to %page head %h at %token : !kv.tile<1x64>, !kv.page<#stream0>`
  }];
  let arguments = (ins KV_TileType:$tile, KV_PageType:$page, Index:$head,
                       Index:$token);
  let results = (outs Index:$saturated);
  let assemblyFormat = [{
    $tile `to` $page `head` $head `at` $token attr-dict `:` type($tile) `,` type($page)
  }];
  let hasVerifier = 1;
}

def KV_InitExtremesOp : KV_TileOp<"init_extremes"> {
  let summary = "least and greatest of no tokens: infinity, minus infinity";
  let description = [{
    Row 0 is the least, row 1 the greatest, a column a channel.
    `%e = kv.init_extremes : !kv.tile<2x64>`
  }];
  let results = (outs KV_TileType:$extremes);
  let assemblyFormat = "attr-dict `:` type($extremes)";
  let hasVerifier = 1;
}

def KV_ExtremesOp : KV_TileOp<"extremes", [AllTypesMatch<["extremes", "result"]>]> {
  let summary = "each channel's least and greatest, over more tokens of one head";
  let description = [{
    Of the tokens `from` to `to` - 1, which lie in one page, and of those that
    `extremes` is of already.
    `%f = kv.extremes %e with %page head %h tokens %from, %to : !kv.tile<2x64>, !kv.page<#s1>`
  }];
  let arguments = (ins KV_TileType:$extremes, KV_PageType:$page, Index:$head,
                       Index:$from, Index:$to);
  let results = (outs KV_TileType:$result);
  let assemblyFormat = [{
    $extremes `with` $page `head` $head `tokens` $from `,` $to attr-dict
    `:` type($extremes) `,` type($page)
  }];
  let hasVerifier = 1;
}

def KV_QuantizeOp : KV_TileOp<"quantize"> {
  let summary = "code tokens of one head from a page of originals";
  let description = [{
    Tokens `from` to `to` - 1 lie in one page and in one block of scales. The
    scales cover just those. Gives how many scales and zeros saturated.
    `%n = kv.quantize %o to %c head %h tokens %from, %to : !kv.page<#s1>, !kv.page<#s2>`

    Where a block of scales has all tokens, it is of many pages: `extremes` are
    those of all of them, and each page is given the pairs that follow.
    `%n = kv.quantize %o to %c head %h tokens %from, %to by %e : !kv.page<#s1>, !kv.page<#s2> by !kv.tile<2x64>`
  }];
  let arguments = (ins KV_PageType:$originals, KV_PageType:$codes, Index:$head,
                       Index:$from, Index:$to, Optional<KV_TileType>:$extremes);
  let results = (outs Index:$saturated);
  let assemblyFormat = [{
    $originals `to` $codes `head` $head `tokens` $from `,` $to
    (`by` $extremes^)? attr-dict
    `:` type($originals) `,` type($codes) (`by` type($extremes)^)?
  }];
  let hasVerifier = 1;
}

def KV_DecodeOp : KV_TileOp<"decode"> {
  let summary = "tokens of one head as f32, code * scale rounded, + zero rounded";
  let description = [{
    `buffer` is [heads, rows, dim], flat; token `from` goes to row `row`.
    `kv.decode %page head %h tokens %from, %to into %buffer[%row of %rows] : !kv.page<#s1>, memref<?xf32>`
  }];
  let arguments = (ins KV_PageType:$page, Index:$head, Index:$from, Index:$to,
                       AnyMemRef:$buffer, Index:$row, Index:$rows);
  let assemblyFormat = [{
    $page `head` $head `tokens` $from `,` $to `into` $buffer `[` $row `of` $rows `]`
    attr-dict `:` type($page) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Snapshots
//===----------------------------------------------------------------------===//

class KV_SnapshotOp<string mnemonic> : KV_TileOp<mnemonic> {
  let arguments = (ins KV_PageType:$page, Index:$head, Index:$token,
                       AnyMemRef:$elements, Optional<AnyMemRef>:$pairs);
  let assemblyFormat = [{
    $page `head` $head `at` $token `,` $elements (`pairs` $pairs^)? attr-dict
    `:` type($page) `,` type($elements) (`pairs` type($pairs)^)?
  }];
  let hasVerifier = 1;
}

def KV_SaveOp : KV_SnapshotOp<"save"> {
  let summary = "one head's token as bits, in an order that no layout changes";
  let description = [{
    `elements` is [heads, channels], i32: a code, or a float's bits, in the low
    bits. `pairs`, where the stream has scales, is [heads, words]: of each block
    of scales along channels that the token lies in the words of its pair.

    `kv.save %page head %h at %t, %e pairs %p : !kv.page<#s1>, memref<2x64xi32> pairs memref<2x4xi32>`
  }];
}

def KV_RestoreOp : KV_SnapshotOp<"restore"> {
  let summary = "what kv.save gave, back into a page";
  let description = [{
    Other tokens stay as they are; a pair that several share is written with
    each of them.

    `kv.restore %page head %h at %t, %e pairs %p : !kv.page<#s1>, memref<2x64xi32> pairs memref<2x4xi32>`
  }];
}

#endif // KVC_DIALECT_KVTILEOPS_TD
