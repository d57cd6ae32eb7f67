#pragma once

// What the classes of a dataset are called, by number, for people to read: nothing that is computed
// depends on it.

#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

// A run's file of them: a name a line, in which a line break of a directory's name is a space.
inline constexpr const char* kClassNamesFile = "classes.txt";
std::string class_names_text(const std::vector<std::string>& names);
// Those that are stored with a run; empty where none are.
std::vector<std::string> stored_class_names(const std::filesystem::path& run_directory);

// Of an image folder its directories, of CIFAR what batches.meta.txt or fine_label_names.txt beside
// its files says, of the official Fashion-MNIST its publisher's words. Empty where there are no
// names, or no data.
std::vector<std::string> class_names(const std::string& dataset,
                                     const std::filesystem::path& root = {});

}  // namespace bitcycle
