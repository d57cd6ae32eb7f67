// Integer convolutions, one thread: time, GMAC/s and the fraction of the instruction mix's peak.
// Every case is checked against the scalar reference before it is timed. With --record it prints
// the fractions that the guard test keeps watch over (bench/fractions.txt).

#include "conv_speed.h"

#include <cstdio>
#include <cstring>
#include <memory>

#include <benchmark/benchmark.h>

namespace {

using namespace bitcycle;
using namespace bitcycle::bench;

void time_case(benchmark::State& state, Isa isa, const SpeedCase& c) {
  ConvSubject subject(c);
  if (!subject.agrees(isa)) {
    state.SkipWithError("differs from the scalar reference");
    return;
  }
  const Speed speed = subject.measure(isa, 15);
  const integer::ScopedIsa scope(isa);
  for (auto _ : state) subject.run();
  state.counters["GMAC/s"] =
      benchmark::Counter(subject.macs() * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak"] = speed.peak_gmacs;
  state.counters["fraction"] = speed.fraction();
}

void record(Isa isa) {
  for (const SpeedCase& c : speed_cases()) {
    const Speed speed = ConvSubject(c).measure(isa, 40);
    std::printf("%.2f %s %s\n", speed.fraction(), std::string(name(isa)).c_str(), c.name().c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool recording = argc > 1 && std::strcmp(argv[1], "--record") == 0;
  for (const Isa isa : available_isas()) {
    if (isa == Isa::scalar) continue;
    if (recording) {
      record(isa);
      continue;
    }
    for (const SpeedCase& c : speed_cases()) {
      const std::string label = std::string(name(isa)) + " " + c.name();
      benchmark::RegisterBenchmark(label.c_str(), time_case, isa, c)->UseRealTime();
    }
  }
  if (recording) return 0;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
