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
  std::vector<Indices> by_class(static_cast<std::size_t>(dataset.classes()));
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    by_class[static_cast<std::size_t>(dataset.label(i))].push_back(i);
  }
  Indices taken;
  for (const Indices& samples : by_class) {
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

std::shared_ptr<const Dataset> subset(std::shared_ptr<const Dataset> dataset, Indices indices) {
  return std::make_shared<Subset>(std::move(dataset), std::move(indices));
}

}  // namespace bitcycle
