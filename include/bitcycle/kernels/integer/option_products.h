#pragma once

// What a gate learns from: how the loss changes with the share of each option, as far as the input
// of a layer tells.

#include "bitcycle/kernels/integer/tensor.h"

#include <memory>
#include <span>
#include <vector>

namespace bitcycle::integer {

struct OptionPlan;

// Per image and option, the inner product of a gradient with an input as the option quantizes it
// (Note [Nested codes]): the sum over all elements of gradient * s_b * (code_b - z_b). One pass
// over an image for all options; options with equal parameters are computed once. The same bytes on
// every instruction set and with any number of threads. Operands are views and must outlive it.
class OptionProducts {
 public:
  OptionProducts(const CodeGrid& grid, RealView gradient, const CodeParams& finest8,
                 const std::vector<CodeParams>& options);
  ~OptionProducts();

  // Given the image's 8-bit codes. Threads may run different images at the same time.
  void run(int image, const std::uint8_t* finest);
  // [batch][options], of the images that have been run.
  std::span<const float> products() const { return products_; }

 private:
  std::unique_ptr<const OptionPlan> plan_;
  std::vector<float> products_;
};

// The codes of `finest`, whose products with the gradient are taken while they are at hand: once an
// image's gradient is complete.
class WeighingCodes : public CodeMaker {
 public:
  WeighingCodes(const CodeMaker& finest, OptionProducts& products)
      : finest_(finest), products_(products) {}
  void make(int image, std::uint8_t* codes) const override {
    finest_.make(image, codes);
    products_.run(image, codes);
  }

 private:
  const CodeMaker& finest_;
  OptionProducts& products_;
};

}  // namespace bitcycle::integer
