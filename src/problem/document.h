// SPDX-License-Identifier: Apache-2.0
// A problem file as text with places: YAML is understood here and nowhere else in the folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/diagnostics.h"
#include "problem/lexer.h"

namespace ako {

struct Text {
  std::string text;
  Spot spot;
};

struct Document {
  struct Entry {
    Text key, value;
  };
  struct Tensor {
    Text name, type;
    std::vector<Text> shape;
    std::optional<Text> values;
    bool temporary = false;
  };
  struct Scalar {
    Text name, type, value;
  };
  struct Shape {
    Spot spot;
    std::vector<Entry> entries;
  };
  /// `derive: {of: rmsnorm, gradients: [x, w]}`
  struct Derive {
    Spot spot;
    Text of;
    std::vector<Text> gradients;
    std::vector<Entry> types, values;
  };
  Text name, summary;
  std::vector<Entry> dims;
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  SourceText math;
  std::vector<Shape> shapes;
  std::vector<Entry> tolerance;
  Spot tolerance_spot;
  std::optional<Text> python_reference, python_function;
  std::vector<Text> python_outputs;
  std::vector<Entry> cost;
  std::optional<Derive> derive;
};

/// Reads the file's structure; unknown and repeated keys, missing ones and wrong kinds go to the diagnostics.
Document read_document(std::string_view source, Diagnostics&);

}  // namespace ako
