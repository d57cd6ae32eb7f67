// The gradient of the weights of a fully connected layer. Both operands are interleaved along the
// rows, as panels whose lanes are inputs and outputs; the inputs' once, the outputs' by whoever
// works on them, a few panels at a time. Tiles of outputs x inputs then go through all rows of all
// terms, so that the gradient is written once, however many calls it is the sum of.

#include "bitcycle/kernels/integer/linear.h"

#include "kernels/integer/linear/panels.h"
#include "kernels/integer/linear/row_planes.h"
#include "kernels/integer/linear/sparse_errors.h"
#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include <omp.h>

namespace bitcycle::integer {
namespace {

constexpr int kChunkPanels = 8;  // of outputs: their errors stay in the second-level cache

// Rows of one term, with one plane of its errors, that are added up in 32 bits.
struct Slice {
  LinearTerm term;
  int worth;  // of the plane
  int first_row;
  int rows;
  int first_step;
  int steps;
  bool last;  // of its term

  const std::uint8_t* row(const RowCodes& codes) const {
    return codes.data + std::ptrdiff_t{first_row} * codes.width;
  }
};

enum class Rounding { once, per_term };

struct GradientScratch {
  AlignedBuffer<std::uint8_t> errors;  // [panel of the chunk][step][64]
  AlignedBuffer<std::uint8_t> ones;
  std::vector<std::int32_t> error_int;  // [panel of the chunk][slice][16]
};

class GradientWork {
 public:
  GradientWork(const LinearWeights& weights, std::span<const LinearTerm> terms, Rounding rounding,
               std::span<float> gradient)
      : shape_(weights.shape()),
        rounding_(rounding),
        gradient_(gradient),
        table_(microkernels()),
        kernels_(*table_.linear),
        input_panels_(panels_of(shape_.inputs)),
        output_panels_(panels_of(shape_.outputs)) {
    assert(static_cast<std::int64_t>(gradient.size()) == shape_.weights());
    for (const LinearTerm& term : terms) cut(term);
    fill_factors(weights);
    input_int_.resize(slices_.size() * static_cast<std::size_t>(padded(shape_.inputs)));
  }

  void run() {
    static thread_local AlignedBuffer<std::uint8_t> shared_columns;
    columns_ = shared_columns.reserve(static_cast<std::size_t>(input_panels_ * panel_bytes()) +
                                      kCodeSlack);
    const int chunk = std::clamp(output_panels_ / (2 * omp_get_max_threads()), 1, kChunkPanels);
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (int panel = 0; panel < input_panels_; ++panel) interleave_inputs(panel);
#pragma omp for schedule(dynamic, 1)
      for (int panel = 0; panel < output_panels_; panel += chunk) {
        run_chunk(panel, std::min(chunk, output_panels_ - panel));
      }
    }
  }

 private:
  bool bytes() const {
    return kernels_.operands == Operands::bytes;
  }
  std::ptrdiff_t panel_bytes() const {
    return std::ptrdiff_t{steps_} * kStepBytes;
  }

  void cut(const LinearTerm& term) {
    assert(term.input.rows == term.errors.rows && term.input.width == shape_.inputs &&
           term.errors.width == shape_.outputs);
    for (const RowPlane& plane : planes_of(term.errors)) {
      for (int row = 0; row < term.input.rows; row += kSliceRows) {
        const int rows = std::min(kSliceRows, term.input.rows - row);
        const int steps = steps_of(rows, kernels_.operands);
        slices_.push_back(
            {{term.input, plane.codes}, plane.worth, row, rows, steps_, steps, false});
        steps_ += steps;
      }
    }
    if (term.input.rows > 0) slices_.back().last = true;
  }

  // Per slice and output.
  void fill_factors(const LinearWeights& weights) {
    for (const Slice& slice : slices_) {
      for (const float weight_scale : weights.scales()) {
        const double factor = gradient_factor(slice.term, weight_scale);
        factors_.push_back(factor);
        float_factors_.push_back(static_cast<float>(factor));
      }
    }
  }

  // (e - z_e)(q - z_a) = (e - h) q + (h - z_e) q - z_a (e - z_e), with h what is taken off to make
  // the errors signed bytes. Words are differences from the zero points, and lack nothing.
  static int taken_off(const Slice& slice) {
    return 1 << (slice.term.errors.params.bits - 1);
  }

  void interleave_inputs(int panel) {
    std::uint8_t* to = columns_ + panel * panel_bytes();
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      const Slice& slice = slices_[s];
      const RowCodes& input = slice.term.input;
      const std::uint8_t* from = slice.row(input) + panel * kPanel;
      std::uint8_t* own = to + std::ptrdiff_t{slice.first_step} * kStepBytes;
      if (!bytes()) {
        kernels_.interleave(from, input.width, slice.rows, input.params.zero_point,
                            reinterpret_cast<std::int16_t*>(own));
        continue;
      }
      table_.interleave(from, input.width, slice.rows, 0, own);
      std::int32_t* ints = input_ints(s) + panel * kPanel;
      table_.step_sums(own, slice.steps, ints);
      const int factor = taken_off(slice) - slice.term.errors.params.zero_point;
      for (int i = 0; i < kPanel; ++i) ints[i] *= factor;
    }
  }
  std::int32_t* input_ints(std::size_t slice) {
    return input_int_.data() + slice * static_cast<std::size_t>(padded(shape_.inputs));
  }

  static GradientScratch& scratch() {
    static thread_local GradientScratch own;
    return own;
  }

  void interleave_errors(int panel, std::uint8_t* to, std::int32_t* ints) {
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      const Slice& slice = slices_[s];
      const RowCodes& errors = slice.term.errors;
      const std::uint8_t* from = slice.row(errors) + panel * kPanel;
      std::uint8_t* own = to + std::ptrdiff_t{slice.first_step} * kStepBytes;
      if (!bytes()) {
        kernels_.interleave(from, errors.width, slice.rows, errors.params.zero_point,
                            reinterpret_cast<std::int16_t*>(own));
        continue;
      }
      table_.interleave(from, errors.width, slice.rows, static_cast<std::uint8_t>(taken_off(slice)),
                        own);
      sum_errors(slice, own, ints + s * kPanel);
    }
  }

  // -z_a SUM (e - z_e) of each output: a row of ones times the panel.
  void sum_errors(const Slice& slice, const std::uint8_t* panel, std::int32_t* ints) {
    const int zero = slice.term.input.params.zero_point;
    if (zero == 0) return static_cast<void>(std::fill_n(ints, kPanel, 0));
    const auto size = static_cast<std::size_t>(slice.steps) * kRowStepBytes;
    std::memset(scratch().ones.reserve(size), 1, size);
    kernels_.tile({.rows = scratch().ones.data(),
                   .row_stride = 0,
                   .row_count = 1,
                   .panels = panel,
                   .panel_stride = 0,
                   .panel_count = 1,
                   .steps = slice.steps,
                   .add = false,
                   .sums = ints,
                   .sum_stride = 0});
    const int lacking = slice.rows * (taken_off(slice) - slice.term.errors.params.zero_point);
    for (int i = 0; i < kPanel; ++i) ints[i] = -zero * (ints[i] + lacking);
  }

  void run_chunk(int first, int panels) {
    GradientScratch& own = scratch();
    const std::size_t ints = slices_.size() * kPanel;
    own.errors.reserve(static_cast<std::size_t>(panels * panel_bytes()));
    own.error_int.assign(static_cast<std::size_t>(panels) * ints, 0);
    for (int i = 0; i < panels; ++i) {
      interleave_errors(first + i, own.errors.data() + i * panel_bytes(),
                        own.error_int.data() + static_cast<std::size_t>(i) * ints);
    }
    for (int column = 0; column < input_panels_; column += kernels_.tile_panels) {
      const int columns = std::min(kernels_.tile_panels, input_panels_ - column);
      for (int i = 0; i < panels; ++i) {
        run_panel(first + i, own.errors.data() + i * panel_bytes(),
                  own.error_int.data() + static_cast<std::size_t>(i) * ints, column, columns);
      }
    }
  }

  struct Tile {
    int out;
    int outs;
    int column;  // panel
    int columns;

    int lanes(int inputs) const { return std::min(columns * kPanel, inputs - column * kPanel); }
  };

  // 16 outputs, as many at a time as a tile takes.
  void run_panel(int panel, const std::uint8_t* errors, const std::int32_t* ints, int column,
                 int columns) {
    const int outs = std::min(kPanel, shape_.outputs - panel * kPanel);
    const int parts = (outs + kernels_.tile_rows - 1) / kernels_.tile_rows;
    for (int i = 0; i < parts; ++i) {
      const int first = outs * i / parts;
      run_tile({panel * kPanel + first, outs * (i + 1) / parts - first, column, columns},
               errors + first * kRowStepBytes, ints + first);
    }
  }

  void run_tile(const Tile& tile, const std::uint8_t* errors, const std::int32_t* ints) {
    alignas(64) std::int32_t sums[kMaxTileRows * kMaxTileLanes];
    alignas(64) float total[kMaxTileRows * kMaxTileLanes] = {};
    const bool direct = rounding_ == Rounding::once;
    float* out = gradient_.data() + std::ptrdiff_t{tile.out} * shape_.inputs + tile.column * kPanel;
    std::vector<std::int64_t> wide;
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      multiply(slices_[s], tile, errors, sums);
      GradientTileJob job{.sums = sums,
                          .sum_stride = kMaxTileLanes,
                          .rows = tile.outs,
                          .lanes = tile.lanes(shape_.inputs),
                          .row_int = ints + s * kPanel,
                          .lane_int = input_ints(s) + tile.column * kPanel,
                          .factors = factors_.data() + s * outputs() + tile.out,
                          .float_factors = float_factors_.data() + s * outputs() + tile.out,
                          .out = direct ? out : total,
                          .out_stride = direct ? shape_.inputs : kMaxTileLanes};
      if (!slices_[s].last || !wide.empty()) {
        add_wide(job, slices_[s], wide);
      } else {
        direct ? kernels_.gradient(job) : kernels_.add_gradient(job);
      }
    }
    for (int r = 0; r < tile.outs && !direct; ++r) {
      std::copy_n(total + r * kMaxTileLanes, tile.lanes(shape_.inputs),
                  out + std::ptrdiff_t{r} * shape_.inputs);
    }
  }

  void multiply(const Slice& slice, const Tile& tile, const std::uint8_t* errors,
                std::int32_t* sums) const {
    const std::ptrdiff_t at = std::ptrdiff_t{slice.first_step} * kStepBytes;
    kernels_.outer_tile({.rows = errors + at,
                         .row_stride = kRowStepBytes,
                         .row_count = tile.outs,
                         .panels = columns_ + tile.column * panel_bytes() + at,
                         .panel_stride = panel_bytes(),
                         .panel_count = tile.columns,
                         .steps = slice.steps,
                         .add = false,
                         .sums = sums,
                         .sum_stride = kMaxTileLanes});
  }

  // A term of several slices: their sums are added up in 64 bits. The last one's plane is the low
  // one, whose codes are worth 1, so its factors are those of the term.
  void add_wide(const GradientTileJob& job, const Slice& slice,
                std::vector<std::int64_t>& wide) const {
    wide.resize(kMaxTileRows * kMaxTileLanes);
    for (int r = 0; r < job.rows; ++r) {
      for (int i = 0; i < job.lanes; ++i) {
        const auto at = static_cast<std::size_t>(r * kMaxTileLanes + i);
        wide[at] += slice.worth * (std::int64_t{job.sums[at]} + job.row_int[r] + job.lane_int[i]);
        if (!slice.last) continue;
        float& out = job.out[r * job.out_stride + i];
        out = rounding_ == Rounding::once
                  ? static_cast<float>(static_cast<double>(wide[at]) * job.factors[r])
                  : std::fma(static_cast<float>(wide[at]), job.float_factors[r], out);
      }
    }
    if (slice.last) wide.clear();
  }

  std::size_t outputs() const {
    return static_cast<std::size_t>(shape_.outputs);
  }

  LinearShape shape_;
  Rounding rounding_;
  std::span<float> gradient_;
  const Microkernels& table_;
  const LinearKernels& kernels_;
  int input_panels_;
  int output_panels_;
  int steps_ = 0;  // of all slices
  std::vector<Slice> slices_;
  std::vector<double> factors_;          // [slice][output]
  std::vector<float> float_factors_;     // likewise
  std::vector<std::int32_t> input_int_;  // [slice][padded input]
  std::uint8_t* columns_ = nullptr;
};

}  // namespace

void linear_weight_gradient(const LinearWeights& weights, const LinearTerm& term,
                            std::span<float> gradient) {
  if (!is_wide(term.errors.params) && term.errors.rows <= kSliceRows && mostly_zero(term.errors)) {
    return sparse_weight_gradient(weights, term, gradient);
  }
  GradientWork(weights, {&term, 1}, Rounding::once, gradient).run();
}

void linear_weight_gradients(const LinearWeights& weights, std::span<const LinearTerm> terms,
                             std::span<float> gradient) {
  GradientWork(weights, terms, Rounding::per_term, gradient).run();
}

}  // namespace bitcycle::integer
