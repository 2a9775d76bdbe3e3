// SPDX-License-Identifier: Apache-2.0
#include "synth/element.h"

namespace ako::synth {

Element element_of(ScalarType type) {
  const std::string name(name_of(type));
  switch (type) {
    case ScalarType::f64:
      return {"double", "", "", false};
    case ScalarType::f32:
      return {"float", "", "", false};
    case ScalarType::tf32:
      return {"float", "", "to_tf32", false};
    case ScalarType::f16:
    case ScalarType::bf16:
      return {"uint16_t", "from_" + name, "to_" + name, false};
    case ScalarType::f8e4m3:
    case ScalarType::f8e5m2:
    case ScalarType::f8e4m3fnuz:
    case ScalarType::f8e5m2fnuz:
    case ScalarType::e8m0:
      return {"uint8_t", "from_" + name, "to_" + name, false};
    case ScalarType::f6e2m3:
    case ScalarType::f6e3m2:
    case ScalarType::f4e2m1:
    case ScalarType::i4:
      return {"uint8_t", "from_" + name, "to_" + name, true};
    case ScalarType::i64:
      return {"int64_t", "", "", false};
    case ScalarType::i32:
      return {"int32_t", "", "to_i32", false};
    case ScalarType::i16:
      return {"int16_t", "", "to_i16", false};
    case ScalarType::i8:
      return {"int8_t", "", "to_i8", false};
    case ScalarType::u8:
      return {"uint8_t", "", "to_u8", false};
    case ScalarType::boolean:
      return {"uint8_t", "", "", false};
  }
  return {};
}

}  // namespace ako::synth
