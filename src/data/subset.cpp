#include "data/subset.h"

#include "bitcycle/base/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bitcycle {
namespace {

using Indices = std::vector<std::int64_t>;

class Subset final : public Dataset {
 public:
  Subset(std::shared_ptr<const Dataset> dataset, Indices indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }
  int classes() const override { return dataset_->classes(); }
  int label(std::int64_t index) const override { return dataset_->label(inner(index)); }
  std::string sample_name(std::int64_t index) const override {
    return dataset_->sample_name(inner(index));
  }
  Image image(std::int64_t index) const override { return dataset_->image(inner(index)); }
  std::string fingerprint() const override {
    Fingerprint print;
    print.add(dataset_->fingerprint());
    print.add(std::as_bytes(std::span(indices_)));
    return print.text();
  }

 private:
  std::int64_t inner(std::int64_t index) const { return indices_[static_cast<std::size_t>(index)]; }

  std::shared_ptr<const Dataset> dataset_;
  Indices indices_;
};

// At most `limit` of the indices from `first` to `last`, in ascending order.
Indices take(Indices::const_iterator first, Indices::const_iterator last, std::int64_t limit) {
  if (limit > 0) last = first + std::min<std::int64_t>(limit, last - first);
  Indices taken(first, last);
  std::sort(taken.begin(), taken.end());
  return taken;
}

std::vector<Indices> indices_by_class(const Dataset& dataset) {
  std::vector<Indices> by_class(static_cast<std::size_t>(dataset.classes()));
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    by_class[static_cast<std::size_t>(dataset.label(i))].push_back(i);
  }
  return by_class;
}

// In an order drawn by `key` from the samples' names.
Indices by_name(const Dataset& dataset, const Indices& samples, RandomKey key) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> draws;
  for (const std::int64_t i : samples) {
    draws.emplace_back(key.derive(dataset.sample_name(i)).bits(0), i);
  }
  std::ranges::sort(draws);
  Indices order;
  for (const auto& [draw, index] : draws) order.push_back(index);
  return order;
}

// Of a class of so many samples.
std::int64_t share(double fraction, std::int64_t count) {
  if (fraction <= 0 || count < 2) return 0;
  const std::int64_t rounded = std::llround(fraction * static_cast<double>(count));
  return std::clamp<std::int64_t>(rounded, 1, count - 1);
}

}  // namespace

Indices permutation(std::int64_t count, RandomKey key) {
  Indices order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[key.below(i, i)]);
  }
  return order;
}

Indices part_indices(const Dataset& dataset, const Part& part) {
  Indices taken;
  for (const Indices& samples : indices_by_class(dataset)) {
    const auto count = static_cast<std::int64_t>(samples.size());
    taken.insert(taken.end(), samples.begin() + part.begin(count),
                 samples.begin() + part.end(count));
  }
  std::ranges::sort(taken);
  return taken;
}

SplitIndices split_indices(std::int64_t count, double validation, std::int64_t limit,
                           RandomKey key) {
  const Indices order = permutation(count, key);
  const std::int64_t rounded = std::llround(validation * static_cast<double>(count));
  const std::int64_t wanted = validation > 0 ? std::max<std::int64_t>(rounded, 1) : 0;
  const auto cut = order.begin() + std::min(wanted, count);
  return {take(cut, order.end(), limit), take(order.begin(), cut, limit)};
}

BalancedSplit balanced_split(const Dataset& dataset, double fraction, RandomKey key) {
  BalancedSplit split;
  for (const Indices& samples : indices_by_class(dataset)) {
    const Indices order = by_name(dataset, samples, key);
    const auto cut = order.begin() + share(fraction, std::ssize(order));
    split.taken.insert(split.taken.end(), order.begin(), cut);
    split.left.insert(split.left.end(), cut, order.end());
  }
  std::ranges::sort(split.taken);
  std::ranges::sort(split.left);
  return split;
}

Indices limited(Indices indices, std::int64_t limit, RandomKey key) {
  if (limit == 0 || limit >= std::ssize(indices)) return indices;
  Indices taken;
  for (const std::int64_t i : permutation(std::ssize(indices), key)) {
    if (std::ssize(taken) == limit) break;
    taken.push_back(indices[static_cast<std::size_t>(i)]);
  }
  std::ranges::sort(taken);
  return taken;
}

std::shared_ptr<const Dataset> subset(std::shared_ptr<const Dataset> dataset, Indices indices) {
  return std::make_shared<Subset>(std::move(dataset), std::move(indices));
}

}  // namespace bitcycle
