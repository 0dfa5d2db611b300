//===- Yardstick.cpp - caches of what is written by hand
//-------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/bench/Yardstick.h"
#include "test/bench/YardstickKernels.h"

#include <atomic>
#include <thread>
#include <vector>

namespace kvc::yardstick {
namespace {

template <int Group, int Dim, typename Kernel> class CacheOf : public Cache {
  using Record = typename Kernel::Record;
  static_assert(sizeof(Record) % 64 == 0);

public:
  CacheOf(Shape shape, int64_t layers, int64_t tokens, int threads)
      : kvHeads(shape.kvHeads), layers(layers), records(tokens / Tokens),
        threads(threads), queries(kvHeads), states(threads) {
    const size_t size = layers * kvHeads * records * sizeof(Record);
    memory.reset(std::aligned_alloc(64, size));
    std::minstd_rand random(1);
    std::vector<Record> samples(16);
    for (Record &record : samples)
      Kernel::fill(record, random);
    auto *all = static_cast<Record *>(memory.get());
    for (int64_t i = 0; i < layers * kvHeads * records; ++i)
      std::memcpy(all + i, &samples[random() % samples.size()], sizeof(Record));
    std::normal_distribution<float> normal;
    for (Query &query : queries)
      for (auto &head : query.q)
        for (float &x : head)
          x = normal(random) * std::numbers::log2e_v<float> /
              std::sqrt(static_cast<float>(Dim));
    for (auto &some : states)
      some.resize(kvHeads);
    for (int number = 1; number < threads; ++number)
      workers.emplace_back([this, number] { work(number); });
  }
  ~CacheOf() override {
    ends = true;
    ++turn;
    turn.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  void attend(int64_t layer) override {
    current = layer;
    done = 0;
    ++turn;
    turn.notify_all();
    share(layer, 0);
    while (done + 1 < threads)
      _mm_pause();
    for (int64_t head = 0; head < kvHeads; ++head)
      for (int number = 1; number < threads; ++number)
        states[0][head].merge(states[number][head]);
  }

  int64_t bytes() const override {
    return kvHeads * records * static_cast<int64_t>(sizeof(Record));
  }
  double error(int64_t layer) const override {
    double most = 0;
    for (int64_t kvHead = 0; kvHead < kvHeads; ++kvHead)
      for (int head = 0; head < Group; ++head)
        most = std::max(most, errorOf(layer, kvHead, head));
    return most;
  }
  double bound() const override { return Kernel::Bound; }

private:
  struct Query {
    alignas(32) float q[Group][Dim];
  };
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };

  const Record *recordsOf(int64_t layer, int64_t kvHead) const {
    return static_cast<const Record *>(memory.get()) +
           (layer * kvHeads + kvHead) * records;
  }

  /// One thread's part of the tokens, for all heads.
  void share(int64_t layer, int number) {
    const int64_t from = records * number / threads,
                  to = records * (number + 1) / threads;
    for (int64_t kvHead = 0; kvHead < kvHeads; ++kvHead) {
      State<Group, Dim> &state = states[number][kvHead];
      state.clear();
      const Record *first = recordsOf(layer, kvHead);
      for (int64_t i = from; i < to; ++i)
        take(queries[kvHead], first[i], state);
    }
  }

  static void take(const Query &query, const Record &record,
                   State<Group, Dim> &state) {
    alignas(32) float tile[Group][Tokens];
    float greatest[Group], sums[Group], before[Group], now[Group];
    Kernel::addKeys(query.q, record, tile);
    weigh(tile, greatest, sums);
    for (int head = 0; head < Group; ++head)
      state.join(head, greatest[head], sums[head], before[head], now[head]);
    Kernel::addValues(tile, record, before, now, state);
  }

  void work(int number) {
    for (int64_t seen = 0;;) {
      // Layers follow one another at once; between two walks nobody spins, the
      // others' threads have the processors.
      for (int i = 0; i < 1000 && turn.load() == seen; ++i)
        _mm_pause();
      turn.wait(seen);
      if (ends)
        return;
      ++seen;
      share(current, number);
      ++done;
    }
  }

  double errorOf(int64_t layer, int64_t kvHead, int head) const {
    const Record *first = recordsOf(layer, kvHead);
    std::vector<double> weights;
    double sum = 0;
    for (int64_t t = 0; t < records * Tokens; ++t) {
      double dot = 0;
      for (int d = 0; d < Dim; ++d)
        dot += static_cast<double>(queries[kvHead].q[head][d]) *
               Kernel::key(first[t / Tokens], t % Tokens, d);
      weights.push_back(std::exp2(dot));
      sum += weights.back();
    }
    const State<Group, Dim> &state = states[0][kvHead];
    double off = 0, size = 0;
    for (int d = 0; d < Dim; ++d) {
      double out = 0, magnitude = 0;
      for (int64_t t = 0; t < records * Tokens; ++t) {
        const double x = Kernel::value(first[t / Tokens], t % Tokens, d);
        out += weights[t] / sum * x;
        magnitude += weights[t] / sum * std::fabs(x);
      }
      off =
          std::max(off, std::fabs(out - state.out[head][d] / state.sum[head]));
      size = std::max(size, magnitude);
    }
    return off / size;
  }

  const int64_t kvHeads, layers, records;
  const int threads;
  std::unique_ptr<void, Free> memory;
  std::vector<Query> queries;                         ///< by head of keys
  std::vector<std::vector<State<Group, Dim>>> states; ///< by thread
  std::vector<std::thread> workers;
  std::atomic<int64_t> turn = 0;
  std::atomic<int> done = 0;
  std::atomic<bool> ends = false;
  int64_t current = 0;
};

template <int Group, int Dim>
std::unique_ptr<Cache> makeOf(Kind kind, Shape shape, int64_t layers,
                              int64_t tokens, int threads) {
  auto with = [&]<typename Kernel>(Kernel) -> std::unique_ptr<Cache> {
    return std::make_unique<CacheOf<Group, Dim, Kernel>>(shape, layers, tokens,
                                                         threads);
  };
  switch (kind) {
  case Kind::F16:
    return with(Floats<Group, Dim>());
  case Kind::I8:
    return with(Coded<Group, Dim, 8>());
  case Kind::I4:
    return with(Coded<Group, Dim, 4>());
  case Kind::I2:
    return with(Coded<Group, Dim, 2>());
  }
  return nullptr;
}

} // namespace

std::unique_ptr<Cache> make(Kind kind, Shape shape, int64_t layers,
                            int64_t tokens, int threads) {
  if (shape.heads % shape.kvHeads || tokens % Tokens)
    return nullptr;
  const int64_t group = shape.heads / shape.kvHeads;
  auto is = [&](int64_t g, int64_t dim) {
    return group == g && shape.dim == dim;
  };
  if (is(4, 128))
    return makeOf<4, 128>(kind, shape, layers, tokens, threads);
  if (is(3, 64))
    return makeOf<3, 64>(kind, shape, layers, tokens, threads);
  if (is(1, 32))
    return makeOf<1, 32>(kind, shape, layers, tokens, threads);
  if (is(4, 256))
    return makeOf<4, 256>(kind, shape, layers, tokens, threads);
  return nullptr;
}

} // namespace kvc::yardstick
