#pragma once

// The points of a landscape, worked on by several processes at a time and handed out in order.
//
// Note [Processes for points]
// A small network's evaluation is made of many short parallel regions, at each of which threads
// wait for the slowest. So threads are not put to work inside an evaluation; each core makes points
// of its own. A model holds the weights of one point, and its samples take the most memory:
// processes that are forked once these are prepared have a model each and share the samples. A
// forked process has none of OpenMP's threads, so it computes on the one that it has, as PyTorch's
// data workers do. It ends with its parent, however that ends, and holds none of its files and
// locks. Where there is no room for one, or one is killed, its parent makes its points: later, and
// the same.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace bitcycle {

class PointWorker;

class PointTeam {
 public:
  using Values = std::vector<double>;
  using Maker = std::function<Values(std::size_t point)>;

  // Points `first` to `end` - 1; `make` is called in this process and in up to `processes` - 1
  // others, each of which is forked now. All points have as many values.
  PointTeam(std::size_t first, std::size_t end, int processes, Maker make);
  ~PointTeam();

  // The values of the next point.
  Values next();

 private:
  std::size_t first_, next_;
  Maker make_;
  std::size_t count_ = 0;  // values of a point
  std::vector<std::unique_ptr<PointWorker>> others_;
};

}  // namespace bitcycle
