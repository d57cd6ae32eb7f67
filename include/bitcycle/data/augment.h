#pragma once

// What happens to a picture between the file and the network: resize, pad, crop, flip, normalise,
// in this order, as torchvision does it for the papers. An Augmentation is a value; the random
// draws come from a key that the loader derives from (seed, epoch, sample), so a sample's fate does
// not depend on who prepares it.

#include "bitcycle/base/random.h"
#include "bitcycle/data/dataset.h"

#include <span>
#include <string>
#include <vector>

namespace bitcycle {

enum class Crop {
  none,
  center,
  random,
  random_resized,  // 8 to 100 % of the area, aspect 3/4 to 4/3, resized to `size`
};
enum class Flip { never, random };

struct Augmentation {
  int resize = 0;  // the shorter side becomes this long (antialiased bilinear); 0: left alone
  int pad = 0;     // black pixels added on every side before the crop
  Crop crop = Crop::none;
  int size = 0;  // side of the crop; 0: the picture's own sides (not for random_resized)
  Flip flip = Flip::never;
  // Of pixel values scaled to [0, 1]: one a channel, or one for all channels.
  std::vector<float> mean = {0.0f};
  std::vector<float> deviation = {1.0f};
};

// The usual augmentation of a dataset by name (docs/data.md has the table). `image_size` is the
// side of what the network sees and matters for image_folder only; the others keep their own size.
Augmentation training_augmentation(const std::string& dataset, int image_size);
Augmentation evaluation_augmentation(const std::string& dataset, int image_size);

// What a picture of shape `in` becomes.
ImageShape output_shape(const Augmentation& augmentation, const ImageShape& in);

// Writes the augmented, normalised picture in height x width x channels order into `out`, which has
// output_shape(augmentation, image.shape).elements() elements.
void augment(const Image& image, const Augmentation& augmentation, RandomKey key,
             std::span<float> out);

}  // namespace bitcycle
