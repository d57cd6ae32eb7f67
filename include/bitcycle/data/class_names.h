#pragma once

// What the classes of a dataset are called, by number, for people to read: nothing that is computed
// depends on it.

#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

// Of an image folder its directories, of CIFAR what batches.meta.txt or fine_label_names.txt beside
// its files says, of the official Fashion-MNIST its publisher's words. Empty where there are no
// names, or no data.
std::vector<std::string> class_names(const std::string& dataset,
                                     const std::filesystem::path& root = {});

}  // namespace bitcycle
