#pragma once

namespace bitcycle {

// The parts of a dataset: to train on, to choose the best weights by, to report.
enum class Split { train, validation, test };

}  // namespace bitcycle
