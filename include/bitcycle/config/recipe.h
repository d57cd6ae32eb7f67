#pragma once

// A recipe describes one run completely. Every field has a default that a newcomer can live with;
// docs/recipes.md lists the keys. Reading a recipe checks it: unknown keys, wrong types, values out
// of range and contradictions are Error(recipe) with file, line, column and the nearest known name.
// A word of an enumeration is spelled in TOML as it is here.

#include "bitcycle/kernels/range.h"
#include "bitcycle/schedule/spec.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

struct ModelRecipe {
  std::string name = "cifar_resnet20";
  // What it starts from: a run directory, a checkpoint or a safetensors file; unset: the seed.
  std::optional<std::string> weights;
  std::optional<int> classes;  // pictures; default: as many as the dataset has

  // Language models; sizes in features. Unset: what is usual for the model.
  std::optional<int> layers;
  std::optional<bool> tied;  // whether input and output share their weights
  std::optional<double> dropout;
  int hidden = 650;   // lstm_lm
  int embedding = 0;  // lstm_lm; 0: as hidden
  int width = 512;    // the rest: transformer_lm
  int inner = 2048;
  int heads = 8;
  double attention_dropout = 0, activation_dropout = 0, softmax_dropout = 0;
  bool final_norm = true;
  std::vector<double> cutoffs;  // of adaptive input and softmax; empty: neither
  int factor = 4;               // each band is so much narrower than the last
};

struct DataRecipe {
  enum class Augment { standard, none };  // standard: the papers'

  // fashion_mnist cifar10 cifar100 image_folder synthetic; ptb wikitext2 wikitext103 text
  std::string dataset = "fashion_mnist";
  std::string root;  // empty: the usual places (bitcycle data lists them); of text the file
  int batch_size = 128;
  std::string part = "1/1";  // of the training set: number / of
  double validation = 0.1;   // fraction of the training set held out; 0: none
  std::int64_t limit = 0;    // use only the first samples of each split; 0: all
  Augment augment = Augment::standard;
  int image_size = 224;  // image_folder: side of the training crop
  int workers = 1;
  double test = 0.1;          // text: fraction at its end; image_folder: where it has no test set
  std::optional<int> window;  // tokens that a model sees at once; unset: as usual for the model
  int context = 0;            // transformer_lm: of an evaluation's window, seen and not scored
};

struct OptimizerRecipe {
  // bert_adam: Google's, without bias correction. nesterov: PyTorch's. The rules are in
  // train/update_rules.cpp.
  enum class Name { sgd, adam, adamw, fairseq_adam, bert_adam, nesterov, fairseq_nag };
  enum class Decay { all, weights };  // all: the papers'; weights: what has two dimensions or more

  Name name = Name::sgd;
  double lr = 0.1;
  double momentum = 0.9;  // sgd, nesterov, fairseq_nag
  double weight_decay = 1e-4;
  Decay decay = Decay::all;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // the kinds of Adam
  double clip_norm = 0;                               // of all gradients together; 0: none
  int accumulate = 1;                                 // batches whose gradients make one update
};

struct LearningRateRecipe {
  enum class Name {
    constant,
    piecewise,
    linear,
    cosine,
    sgdr,
    linear_to_zero,
    inverse_sqrt,
    plateau
  };
  enum class Warmup { constant, linear };  // constant: the papers'
  enum class Origin { start, warmup };     // warmup: the end of it

  Name name = Name::piecewise;
  std::vector<double> at = {0.5, 0.75};  // piecewise: fractions of the run
  double factor = 0.1;                   // piecewise, plateau: multiplied at each
  std::vector<double> rates;             // piecewise: the rate from each on, in place of `factor`
  double final = 0.01;                   // linear, cosine: the last rate over the first
  double first_period = 0.0625;          // sgdr: length of the first cycle, fraction of the run
  double period_factor = 2.0;            // sgdr: each cycle is this much longer
  double shrink = 1.0;                   // sgdr: height of each cycle over that of the last
  double floor = 0.0;                    // sgdr: the lowest rate of a cycle over its highest
  Origin origin = Origin::start;         // where the shape begins
  std::int64_t warmup_steps = 0;         // the rate is lr * warmup_factor during these
  double warmup_fraction = 0.0;          // the same as a fraction of the run
  double warmup_factor = 0.1;
  Warmup warmup = Warmup::constant;
};

// Bits of a part of the network. An unset field follows the recipe's forward or backward schedule.
struct LayerOverride {
  std::string layers;  // pattern with * and ?, e.g. "layer1.*"; or "@depthwise"
  bool full_precision = false;
  std::optional<ScheduleSpec> forward;  // weights and activations
  std::optional<ScheduleSpec> weight, activation, backward;
};

// Which tensors are quantized how; the quantizers are in quant/schemes.h. Automatic ("auto" in
// TOML): the one that the integer kernels execute where they do, else the papers'.
enum class SchemeName { automatic, sbm, integer, dorefa, sbm_banner, wageubn_lite, wageubn_full };

// When a stage of precision ends: once the loss has settled, see config/loss_indicator.h.
struct IndicatorRecipe {
  // total: with what gates add to the loss for its cost.
  enum class Loss { cross_entropy, perplexity, total };

  double epsilon = 0.05;
  double alpha = 0.3;
  int window = 5;                 // periods
  int normalising = 10;           // periods; 0: differences are absolute
  std::vector<double> deadlines;  // fractions of the run at which stages end all the same
  Loss loss = Loss::cross_entropy;
  std::int64_t period = 0;  // steps; 0: an epoch
};

// FracTrain's progressive quantization: bits by stage, 0 for float.
struct ProgressiveRecipe : IndicatorRecipe {
  std::vector<int> forward;           // weights and activations
  std::vector<int> backward;          // errors
  std::optional<int> turning_points;  // unset: one between each two stages
};

// What a gate may choose for a sample: bits of activations and of errors, both 0 to skip the block.
struct PrecisionOption {
  int activation = 0;
  int error = 0;
  bool skips() const { return activation == 0 && error == 0; }
  bool operator==(const PrecisionOption&) const = default;
};

// FracTrain's dynamic quantization (DFQ): before each residual block a gate chooses one of the
// options for each sample, while the loss steers what that costs (cp, config/gate_objective.h) to a
// target. Several targets, one for each stage, are the paper's FracTrain.
struct DynamicRecipe : IndicatorRecipe {
  // How the loss is steered around the target: see steering().
  enum class Band { soft, flat };
  // What is computed: the chosen option alone, or all and then mixed, as in the code for CIFAR.
  enum class Form { chosen, all_candidates };

  std::vector<PrecisionOption> options;  // in TOML also by name: "cifar", "imagenet"
  std::optional<int> weight;             // bits of weights throughout; has to be given
  std::vector<double> target;            // percent; in TOML also one number
  double beta = 1e-3;
  Band band = Band::soft;
  double band_width = 0;  // percent
  bool ada_beta = false;  // keep the cost's part of the loss below a tenth of the cross-entropy
  Form form = Form::chosen;
};

// CPT's precision range test, which finds the bounds of a cyclic schedule within its first cycle:
// see config/range_test.h.
struct RangeTestRecipe {
  static constexpr double kThreshold = 0.87;

  int from = 2, to = 8;             // bits
  std::string schedule = "cosine";  // a cyclic one, between the bounds that are found
  int cycles = 32;
  double threshold = kThreshold;
  double confidence = 0.99;
  std::optional<double> upper;  // threshold of the upper bound; unset: that is `to`
  int block = 20;               // steps
  int pairs = 16;               // of blocks, at most
  double ready = 20;            // standard errors above chance
};

struct PrecisionRecipe {
  enum class Backend { simulate, integer, automatic };  // automatic: "auto" in TOML
  enum class Per { step, epoch };

  SchemeName scheme = SchemeName::automatic;
  Backend backend = Backend::automatic;
  std::optional<ProgressiveRecipe> progressive;  // in place of the schedules
  std::optional<DynamicRecipe> dynamic;          // likewise
  ScheduleSpec forward;                          // weights and activations
  std::optional<RangeTestRecipe> range_test;     // of forward = "auto"; unset: as usual
  std::optional<ScheduleSpec> weight;            // in place of forward
  std::optional<ScheduleSpec> activation;
  ScheduleSpec backward;  // errors
  Per per = Per::step;    // how often the schedules advance
  RangeStart range_start = RangeStart::first_batch;
  std::vector<LayerOverride> overrides;  // the last that matches a layer wins
};

// Whether a range test finds the bounds of the forward bits: forward = "auto".
inline constexpr std::string_view kAutomaticForward = "auto";
inline bool is_automatic(const PrecisionRecipe& recipe) {
  return recipe.forward.name == kAutomaticForward;
}

// Whether the bits follow what is observed, so that nobody knows them beforehand.
inline bool is_closed_loop(const PrecisionRecipe& recipe) {
  return recipe.progressive || recipe.dynamic || is_automatic(recipe);
}

struct EvaluationRecipe {
  enum class BestOn { validation, test };  // test: the papers'

  // max (of the schedule), current (the papers'), fp, 1..32. A recipe that is read and leaves it
  // out has "current" under precision.progressive and precision.dynamic.
  std::string bits = "max";
  BestOn best_on = BestOn::validation;
  double every_epochs = 1.0;
};

struct CheckpointRecipe {
  double every_epochs = 1.0;
  int keep = 2;  // the newest so many, besides the best
};

// Stochastic weight averaging: the mean of the weights that a run goes through towards its end, see
// config/averaging.h.
struct AveragingRecipe {
  double start = 0.75;  // fraction of the run
  double every_epochs = 1.0;
};

struct Recipe {
  int version = 2;
  std::uint64_t seed = 1;
  std::int64_t steps = 0;  // one of steps and epochs is given; the other is 0
  double epochs = 0;
  int threads = 0;  // 0: one for each core that may be used
  std::string device = "cpu";
  int log_every = 50;
  std::optional<std::int64_t> statistics_every;  // unset: see statistics_interval
  bool tensorboard = true;
  std::optional<AveragingRecipe> averaging;  // unset: nothing is averaged
  ModelRecipe model;
  DataRecipe data;
  OptimizerRecipe optimizer;
  LearningRateRecipe lr_schedule;
  PrecisionRecipe precision;
  EvaluationRecipe evaluation;
  CheckpointRecipe checkpoint;
};

// Reads and checks a recipe file, with `key=value` settings (dotted keys) laid over it.
Recipe read_recipe(const std::filesystem::path& file,
                   const std::vector<std::string>& settings = {});
// The same for text; `origin` stands where error messages name the file.
Recipe parse_recipe(std::string_view text, const std::string& origin,
                    const std::vector<std::string>& settings = {});
// The recipe with every default spelled out, as TOML that parses to the same recipe.
std::string to_toml(const Recipe& recipe);
// The same of the keys that decide what a run computes.
std::string result_toml(const Recipe& recipe);
// The keys that decide what a run computes, dotted, and their values as TOML. Keys that do not
// apply or are not set are left out.
std::map<std::string, std::string> result_keys(const Recipe& recipe);
// Those in which two recipes differ, with their values, "unset" where there is none. Keys that only
// say how it is carried out (threads, workers, logging, checkpoints) do not count.
struct KeyDifference {
  std::string key, a, b;
};
std::vector<KeyDifference> key_differences(const Recipe& a, const Recipe& b);
// The same, each as "key: a -> b".
std::vector<std::string> differences(const Recipe& a, const Recipe& b);
// The same for two recipes exactly when they have no differences().
std::string fingerprint(const Recipe& recipe);

}  // namespace bitcycle
