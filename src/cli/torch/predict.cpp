// `bitcycle predict` itself, in the program that has LibTorch. The pictures that the run was
// trained on are not needed: what the model was made for is known from the recipe and the
// checkpoint.

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/data/class_names.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/io/file.h"
#include "bitcycle/io/safetensors.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/tasks/image_classification.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/session.h"

#include "base/json_text.h"
#include "cli/predict/asked_pictures.h"
#include "cli/predict/predict_subject.h"
#include "cli/predict/predictions.h"
#include "cli/schedule/run_bits.h"
#include "cli/torch/load_checkpoint.h"
#include "cli/torch_commands.h"
#include "data/pictures/picture.h"
#include "report/printable.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

// Stands for the training set of a run, of which no more is asked than its measures.
class RememberedSet final : public Dataset {
 public:
  RememberedSet(ImageShape shape, int classes, std::int64_t size)
      : shape_(shape), classes_(classes), size_(size) {}

  std::int64_t size() const override { return size_; }
  int classes() const override { return classes_; }
  int label(std::int64_t) const override { return 0; }
  Image image(std::int64_t) const override {
    return {shape_, std::vector<std::uint8_t>(static_cast<std::size_t>(shape_.elements()))};
  }

 private:
  ImageShape shape_;
  int classes_;
  std::int64_t size_;
};

// Rows of the last layer.
int trained_classes(const PredictSubject& subject) {
  const std::string file = "model.safetensors";
  const std::string origin = subject.checkpoint.path(file).string();
  const TensorFile weights = decode_safetensors(subject.checkpoint.bytes(file), origin);
  const Network network = picture_network(subject.recipe);
  const std::string name = network.nodes.back().name + ".weight";
  const auto found = weights.tensors.find(name);
  if (found != weights.tensors.end()) return static_cast<int>(found->second.shape.at(0));
  throw Error(ErrorCode::checkpoint, origin + " has no tensor \"" + name + "\"",
              "It is no checkpoint of the model that recipe.toml names.");
}

// As many batches as the run had in an epoch: schedules may depend on it.
std::int64_t trained_samples(const Recipe& recipe, const std::string& run, Step step) {
  const std::vector<LoggedStep> log = logged_steps(run);
  const LoggedStep last = log.empty() ? LoggedStep{.step = step, .epoch = 1} : log.back();
  return run_length(recipe, last).steps_per_epoch * recipe.optimizer.accumulate *
         recipe.data.batch_size;
}

// A trained model that can be asked.
class Asked {
 public:
  Asked(const PredictSubject& subject, const std::string& run)
      : classes_(trained_classes(subject)), session_(subject.recipe, run, parts(subject, run)) {
    load_checkpoint(session_, subject.checkpoint, DataChanges::accept);
    session_.apply_evaluation(subject.width.bits, subject.checkpoint.step - 1);
  }

  std::size_t classes() const { return static_cast<std::size_t>(classes_); }

  std::vector<double> ask(const Image& picture) { return task_->ask(picture); }

 private:
  RunParts parts(const PredictSubject& subject, const std::string& run) {
    const Network network = picture_network(subject.recipe);
    const auto set = std::make_shared<RememberedSet>(
        network.input, classes_, trained_samples(subject.recipe, run, subject.checkpoint.step));
    RunParts parts;
    parts.task = [this, set](const Recipe& recipe, const at::Device& device, const RunTexts&) {
      auto task = std::make_unique<ImageClassification>(recipe, device, TrainingSets{.train = set});
      task_ = task.get();
      return task;
    };
    return parts;
  }

  int classes_;
  ImageClassification* task_ = nullptr;  // the session's
  Session session_;
};

// Runs of earlier versions have not stored them; their data may still be there.
std::vector<std::string> names_of_run(const std::string& run) {
  std::vector<std::string> names = stored_class_names(run);
  if (!names.empty()) return names;
  const DataRecipe data = recipe_of_run(run).data;
  return class_names(data.dataset, data.root);
}

// More names than classes, or an empty one, are those of something else: numbers do not mislead.
std::vector<std::string> usable(std::vector<std::string> names, std::size_t classes) {
  if (names.size() <= classes && std::ranges::find(names, "") == names.end()) return names;
  narrate(fmt::format(
      "warning: the names of the classes do not fit the network, which has {}; they are given by "
      "their numbers, from 0\n",
      classes));
  return {};
}

// What is named may be anything: a pipe would be waited for, a device need not end.
void require_file(const std::string& file) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  if (type == std::filesystem::file_type::none) {
    throw Error(ErrorCode::data, "cannot read " + file + ": " + error.message());
  }
  if (type != std::filesystem::file_type::regular) {
    throw Error(ErrorCode::data, "expected a picture, found no file in " + file);
  }
  if (std::filesystem::file_size(file) <= kMostBytes) return;
  throw Error(ErrorCode::data, file + " is larger than a gigabyte, and hardly a picture");
}

// Prints answers as they come, or as JSON in the end.
class Answers {
 public:
  Answers(const PredictOptions& options, const PredictSubject& subject, FolderScore score)
      : json_(options.json),
        score_(std::move(score)),
        whole_({{"run", options.run},
                {"step", subject.checkpoint.step},
                {"bits", subject.width.text}}) {
    whole_["pictures"] = whole_["skipped"] = nlohmann::ordered_json::array();
  }

  void add(const Prediction& prediction) {
    score_.add(prediction);
    if (!json_) return fmt::print("{}", to_line(prediction));
    whole_["pictures"].push_back(to_json(prediction));
  }
  void skip(const char* kind, const std::string& sentence) {
    narrate(fmt::format("{}: {}; skipped\n", kind, printable_line(sentence)));
    whole_["skipped"].push_back(sentence);
  }
  void finish() {
    if (!json_) return narrate(score_.text());
    whole_["in_folders_of_classes"] = score_.json();
    fmt::print("{}\n", json_text(whole_, 2));
  }

 private:
  bool json_;
  FolderScore score_;
  nlohmann::ordered_json whole_;
};

// Whether it could be read.
bool answer(Asked& asked, const std::string& file, const std::vector<std::string>& names, int top,
            Answers& answers) {
  try {
    require_file(file);
    const Image picture = decode_picture(read_file(file, ErrorCode::data), file);
    answers.add({file, best_guesses(asked.ask(picture), names, top)});
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;
    answers.skip("warning", error.what());
    return false;
  }
}

}  // namespace

int run_predict(const PredictOptions& options) {
  use_caching_allocator();
  const PredictSubject subject = predict_subject(options);
  const AskedPictures pictures = asked_pictures(options.pictures);
  Asked asked(subject, options.run);
  const std::vector<std::string> names = usable(names_of_run(options.run), asked.classes());
  Answers answers(options, subject, FolderScore(names));
  for (const std::string& stray : pictures.strays) answers.skip("note", stray);
  for (const std::string& damage : pictures.damaged) answers.skip("warning", damage);
  bool whole = pictures.damaged.empty();
  for (const std::string& file : pictures.files) {
    whole = answer(asked, file, names, options.top, answers) && whole;
  }
  answers.finish();
  return whole ? 0 : exit_status(ErrorCode::data);
}

}  // namespace bitcycle::cli
