#include "kernels/integer/linear/sparse_errors.h"

#include "kernels/integer/linear/panels.h"
#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace bitcycle::integer {
namespace {

constexpr int kSampledRows = 8;
constexpr int kParcelRows = 16;
constexpr int kParcelOutputs = 256;  // four cache lines of a row of errors

// Calls found(index, error) for the errors that are not zero.
template <typename Found>
void each_error(const std::uint8_t* codes, int count, int zero, const Found& found) {
  constexpr int kWord = 8;
  std::uint64_t zeros;
  std::memset(&zeros, zero, kWord);
  const auto look_at = [&](int i) {
    if (codes[i] != zero) found(i, codes[i] - zero);
  };
  int i = 0;
  for (; i + kWord <= count; i += kWord) {
    std::uint64_t word;
    std::memcpy(&word, codes + i, kWord);
    if (word == zeros) continue;
    for (int k = 0; k < kWord; ++k) look_at(i + k);
  }
  for (; i < count; ++i) look_at(i);
}

const std::uint8_t* row_of(const RowCodes& codes, int row) {
  return codes.data + std::ptrdiff_t{row} * codes.width;
}

struct SparseScratch {
  std::vector<SparseTerm> terms;
  AlignedBuffer<std::int32_t> sums;

  std::int32_t* cleared_sums(int count) {
    std::int32_t* own = sums.reserve(static_cast<std::size_t>(count));
    return std::fill_n(own, count, 0), own;
  }
};
SparseScratch& sparse_scratch() {
  static thread_local SparseScratch scratch;
  return scratch;
}

// The rows of an input gradient: weights' rows are added up.
class SparseRows {
 public:
  SparseRows(const LinearWeights& weights, const RowCodes& errors, std::span<float> gradient)
      : weights_(weights.state()),
        errors_(errors),
        gradient_(gradient),
        inputs_(weights.shape().inputs),
        lane_int_(static_cast<std::size_t>(inputs_)),
        offsets_(lane_int_.size(), 1.0f),
        scales_(lane_int_.size(), errors.params.scale) {}

  void run() {
#pragma omp parallel for schedule(dynamic, 1)
    for (int row = 0; row < errors_.rows; row += kParcelRows) {
      run_parcel(row, std::min(kParcelRows, errors_.rows - row));
    }
  }

 private:
  void run_parcel(int first, int rows) const {
    float boxes[kParcelRows];
    microkernels().weighted_pixel_sums(row_of(errors_, first), rows, errors_.width,
                                       errors_.params.zero_point, weights_.offsets.data(), boxes);
    for (int r = 0; r < rows; ++r) run_row(first + r, boxes[r]);
  }

  void run_row(int row, float box) const {
    SparseScratch& own = sparse_scratch();
    own.terms.clear();
    each_error(row_of(errors_, row), errors_.width, errors_.params.zero_point,
               [&](int output, int error) {
                 own.terms.push_back({output, error});
               });
    std::int32_t* sums = own.cleared_sums(inputs_);
    const LinearKernels& kernels = *microkernels().linear;
    kernels.add_signed_rows(own.terms.data(), own.terms.size(), weights_.codes.data(), inputs_,
                            sums);
    kernels.finish({.sums = sums,
                    .sum_stride = 0,
                    .rows = 1,
                    .lanes = inputs_,
                    .boxes = &box,
                    .lane_int = lane_int_.data(),
                    .offset = offsets_.data(),
                    .scale = scales_.data(),
                    .shift = nullptr,
                    .out = gradient_.data() + std::ptrdiff_t{row} * inputs_,
                    .out_stride = 0});
  }

  const LinearWeights::State& weights_;
  const RowCodes& errors_;
  std::span<float> gradient_;
  int inputs_;
  std::vector<std::int32_t> lane_int_;  // zeros: errors are differences from the zero point
  std::vector<float> offsets_, scales_;
};

// The rows of a weight gradient, one per output: the input's rows are added up.
class SparseOutputs {
 public:
  SparseOutputs(const LinearWeights& weights, const LinearTerm& term, std::span<float> gradient)
      : term_(term),
        gradient_(gradient),
        inputs_(weights.shape().inputs),
        outputs_(weights.shape().outputs),
        scales_(weights.scales()),
        lane_int_(static_cast<std::size_t>(inputs_)) {}

  void run() {
#pragma omp parallel for schedule(dynamic, 1)
    for (int output = 0; output < outputs_; output += kParcelOutputs) {
      run_parcel(output, std::min(kParcelOutputs, outputs_ - output));
    }
  }

 private:
  // Terms of the parcel, output by output.
  struct ByOutput {
    std::array<std::size_t, kParcelOutputs + 1> begin{};
    std::vector<SparseTerm> terms;
  };

  void run_parcel(int first, int count) const {
    static thread_local ByOutput parcel;
    sort_errors(first, count, parcel);
    for (int o = 0; o < count; ++o) {
      const auto at = static_cast<std::size_t>(o);
      run_output(first + o,
                 std::span(parcel.terms)
                     .subspan(parcel.begin[at], parcel.begin[at + 1] - parcel.begin[at]));
    }
  }

  template <typename Found>
  void each_error_of(int first, int count, const Found& found) const {
    const RowCodes& errors = term_.errors;
    for (int row = 0; row < errors.rows; ++row) {
      each_error(
          row_of(errors, row) + first, count, errors.params.zero_point,
          [&](int output, int error) { found(static_cast<std::size_t>(output), row, error); });
    }
  }

  // Counted, then put in their places.
  void sort_errors(int first, int count, ByOutput& sorted) const {
    std::array<std::size_t, kParcelOutputs> next{};
    each_error_of(first, count, [&](std::size_t output, int, int) { ++next[output]; });
    for (std::size_t o = 0; o < static_cast<std::size_t>(count); ++o) {
      sorted.begin[o + 1] = sorted.begin[o] + next[o];
      next[o] = sorted.begin[o];
    }
    sorted.terms.resize(sorted.begin[static_cast<std::size_t>(count)]);
    each_error_of(first, count, [&](std::size_t output, int row, int error) {
      sorted.terms[next[output]++] = {row, error};
    });
  }

  void run_output(int output, std::span<const SparseTerm> terms) const {
    std::int32_t* sums = sparse_scratch().cleared_sums(inputs_);
    const LinearKernels& kernels = *microkernels().linear;
    kernels.add_unsigned_rows(terms.data(), terms.size(), term_.input.data, inputs_, sums);
    std::int32_t errors = 0;
    for (const SparseTerm& term : terms) errors += term.factor;
    const std::int32_t row_int = -term_.input.params.zero_point * errors;
    const double factor = gradient_factor(term_, scales_[static_cast<std::size_t>(output)]);
    kernels.gradient({.sums = sums,
                      .sum_stride = 0,
                      .rows = 1,
                      .lanes = inputs_,
                      .row_int = &row_int,
                      .lane_int = lane_int_.data(),
                      .factors = &factor,
                      .float_factors = nullptr,
                      .out = gradient_.data() + std::ptrdiff_t{output} * inputs_,
                      .out_stride = 0});
  }

  const LinearTerm& term_;
  std::span<float> gradient_;
  int inputs_;
  int outputs_;
  std::span<const float> scales_;
  std::vector<std::int32_t> lane_int_;  // zeros
};

}  // namespace

bool mostly_zero(const RowCodes& errors) {
  const int sampled = std::min(errors.rows, kSampledRows);
  std::int64_t others = 0;
  for (int i = 0; i < sampled; ++i) {
    const std::uint8_t* codes =
        row_of(errors, static_cast<int>(std::int64_t{errors.rows} * i / sampled));
    others += errors.width - std::count(codes, codes + errors.width, errors.params.zero_point);
  }
  return others * microkernels().linear->sparse_errors < std::int64_t{sampled} * errors.width;
}

void sparse_input_gradient(const LinearWeights& weights, const RowCodes& errors,
                           std::span<float> gradient) {
  SparseRows(weights, errors, gradient).run();
}

void sparse_weight_gradient(const LinearWeights& weights, const LinearTerm& term,
                            std::span<float> gradient) {
  SparseOutputs(weights, term, gradient).run();
}

}  // namespace bitcycle::integer
