#pragma once

// The convolutions whose speed is watched: the layers of CIFAR ResNets and MobileNetV2, by pass,
// width and instruction set. One thread, a batch small enough for the cache.

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/oracle.h"
#include "measure.h"

#include <string>
#include <vector>

namespace bitcycle::bench {

enum class Pass { forward, backward_data, backward_weights };

struct SpeedCase {
  Pass pass;
  integer::ConvShape shape;
  int bits;

  // E.g. "forward 16->16 3x3/1 32x32 3 bits"; errors always have 8.
  std::string name() const;
};

std::vector<SpeedCase> speed_cases();

// Operands of a case with room for its result; run() makes the pass under the set in use.
class ConvSubject {
 public:
  explicit ConvSubject(const SpeedCase& c);
  void run();
  // Whether `isa` makes the same bytes as the scalar reference.
  bool agrees(Isa isa);
  Speed measure(Isa isa, int repeats);
  double macs() const { return static_cast<double>(case_.shape.macs()); }

 private:
  Mix mix(Isa isa) const;

  SpeedCase case_;
  integer::testing::TestCodes input_;
  integer::testing::TestCodes errors_;
  integer::ConvWeights weights_;
  std::vector<integer::Half> output_;
  std::vector<float> gradient_;
  integer::ChannelStats stats_;
};

}  // namespace bitcycle::bench
