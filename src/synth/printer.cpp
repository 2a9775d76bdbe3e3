// SPDX-License-Identifier: Apache-2.0
// Names, storage, loops: what printing one element and printing lanes have in common.
#include "synth/printer.h"

#include <algorithm>

#include "synth/element.h"

namespace ako::synth {

namespace {

/// The words of contraction*.cpp and attention_kernel.cpp, which write text with names of their own.
constexpr std::string_view tile_words =
    "a b c i j k m n p m0 n0 k0 ms ns ks jc pc ic to row step kept first last d q s i0 q0 qs "
    "end key sum top from keys pack seen tile added depth lower panel scale score shift sums "
    "total upper value attend before factor scores unseen weight columns largest product "
    "queries visible to_row sums_row seen_to seen_from last_panel first_panel key_panels "
    "padded_keys query_panels value_panels padded_columns";

}  // namespace

Printer::Printer(Program& program, const Layout& layout, const Choices& choices)
    : program_(program), layout_(layout), choices_(choices) {
  if (choices.tiled) {
    for (std::size_t at = 0; at < tile_words.size();) {
      const std::size_t end = std::min(tile_words.find(' ', at), tile_words.size());
      names_.take(tile_words.substr(at, end - at));
      at = end + 1;
    }
  }
  for (const Dim& dim : program.dims) dims_.push_back(names_.take(dim.name));
  for (const Tensor& tensor : program.tensors) {
    tensors_.push_back(names_.take(tensor.name));
    wide_ = wide_ || (tensor.type == ScalarType::f64 && !tensor.exact);
  }
  for (const Scalar& scalar : program.scalars) scalars_.push_back(names_.take(scalar.name));
  if (wide_) real_ = "double";
}

const std::string* Printer::find_register(TensorId tensor) const {
  const auto found = registers_.find(tensor);
  return found == registers_.end() ? nullptr : &found->second;
}

std::string Printer::bind(const Range& range) {
  std::string name = names_.take(program_.indices[static_cast<std::size_t>(range.index)].name);
  bind_as(range, name);
  return name;
}

void Printer::bind_as(const Range& range, std::string text) {
  indices_[range.index] = std::move(text);
  ranges_[range.index] = range;
}

void Printer::release(const Range& range) {
  names_.give_back(indices_[range.index]);
  indices_.erase(range.index);
}

std::pair<std::string, std::string> Printer::bounds(const Range& range) {
  if (share_ && share_->indices.contains(range.index)) return {share_->first, share_->last};
  return {scalar(range.lower), scalar(range.upper, 61)};
}

void Printer::open_loop(const Range& range) {
  const auto [lower, upper] = bounds(range);
  const std::string name = bind(range);
  code_->open("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name, lower, upper);
}

void Printer::close_loop(const Range& range) {
  code_->close();
  release(range);
}

std::string Printer::value_type(TensorId id) const {
  switch (program_.tensor(id).number) {
    case NumberClass::real:
      return real_;
    case NumberClass::integer:
      return "int64_t";
    case NumberClass::boolean:
      return "bool";
  }
  return real_;
}

std::string Printer::extent_text(TensorId id, std::size_t first_axis) {
  const Tensor& tensor = program_.tensor(id);
  std::string text;
  for (std::size_t axis = first_axis; axis < tensor.shape.size(); ++axis) {
    text += (text.empty() ? "" : " * ") + scalar(tensor.shape[axis], 81);
  }
  return text.empty() ? "1" : text;
}

std::string Printer::offset(TensorId id, const std::vector<ExprId>& subscripts) {
  const Tensor& tensor = program_.tensor(id);
  const auto first = static_cast<std::size_t>(storage(id).dropped);
  std::string text;
  for (std::size_t axis = first; axis < subscripts.size(); ++axis) {
    if (axis == first) {
      text = scalar(subscripts[axis], axis + 1 < subscripts.size() ? 80 : 70);
      continue;
    }
    const bool last = axis + 1 == subscripts.size();
    text += " * " + scalar(tensor.shape[axis], 81) + " + " + scalar(subscripts[axis], 71);
    if (!last) text = "(" + text + ")";
  }
  return text.empty() ? "0" : text;
}

std::string Printer::load(TensorId id, const std::string& offset) {
  const Tensor& tensor = program_.tensor(id);
  const std::string& name = tensor_name(id);
  if (tensor.exact)
    return tensor.number == NumberClass::boolean ? name + "[" + offset + "] != 0" : name + "[" + offset + "]";
  const Element element = element_of(tensor.type);
  if (!element.decode.empty()) {
    need(element.decode);
    const std::string call = element.packed ? fmt::format("{}({}, {})", element.decode, name, offset)
                                            : fmt::format("{}({}[{}])", element.decode, name, offset);
    return wide_ ? fmt::format("double({})", call) : call;
  }
  const std::string text = name + "[" + offset + "]";
  if (tensor.number == NumberClass::boolean) return text + " != 0";
  if (tensor.number == NumberClass::integer)
    return tensor.type == ScalarType::i64 ? text : "int64_t(" + text + ")";
  return wide_ && tensor.type != ScalarType::f64 ? "double(" + text + ")" : text;
}

void Printer::store(TensorId target, const std::vector<ExprId>& subscripts, const std::string& value,
                    bool vector) {
  const std::string at = offset(target, subscripts);
  if (!vector) return store_at(target, at, value);
  const Tensor& tensor = program_.tensor(target);
  const bool plain = tensor.exact || element_of(tensor.type).encode.empty();
  // What is updated in place has just been read: its line is in the first cache already.
  const bool past_caches =
      choices_.streaming && storage(target).home == Home::argument && tensor.role == TensorRole::output;
  const std::string function =
      (past_caches ? "v_stream" : "v_store") + (plain ? "" : "_" + std::string(name_of(tensor.type)));
  need(function);
  if (!plain && tensor.type == ScalarType::bf16)
    need(choices_.hardware_rounding ? "v_bf16_hardware" : "v_bf16");
  code_->line("{}({} + {}, {}, span);", function, tensor_name(target), at, value);
}

void Printer::store_at(TensorId target, const std::string& at, const std::string& value) {
  const Tensor& tensor = program_.tensor(target);
  const std::string& name = tensor_name(target);
  const Element element = tensor.exact ? Element{} : element_of(tensor.type);
  if (element.encode.empty()) return code_->line("{}[{}] = {};", name, at, value);
  need(element.encode);
  if (element.packed) return code_->line("{}({}, {}, {});", element.encode, name, at, value);
  code_->line("{}[{}] = {}({});", name, at, element.encode, value);
}

std::string Printer::element(const Statement& statement) {
  return real_operand_of(statement.value, program_.tensor(statement.target).number).text;
}

std::string Printer::rounded(TensorId id, const std::string& value) {
  const Tensor& tensor = program_.tensor(id);
  if (tensor.exact || tensor.number != NumberClass::real) return value;
  if (element_of(tensor.type).encode.empty())
    return wide_ && tensor.type == ScalarType::f32 ? "float(" + value + ")" : value;
  const std::string function = "round_" + std::string(name_of(tensor.type));
  need(function);
  return function + "(" + value + ")";
}

ExprId Printer::old_value(const Statement& statement) {
  return access(program_, statement.target, statement.subscripts);
}

bool Printer::vector_storage(TensorId id) const {
  const Tensor& tensor = program_.tensor(id);
  if (tensor.number != NumberClass::real) return false;
  if (tensor.exact) return true;
  if (wide_) return tensor.type == ScalarType::f64;
  return tensor.type == ScalarType::f32 || tensor.type == ScalarType::bf16 || tensor.type == ScalarType::f16;
}

bool Printer::unit_stride(const Expr& access, IndexId index) const {
  if (access.args.empty() || !vector_storage(access.ref)) return false;
  for (std::size_t axis = 0; axis + 1 < access.args.size(); ++axis) {
    if (mentions(program_, access.args[axis], index)) return false;
  }
  const ExprId last = access.args.back();
  if (is_index(program_, last, index)) return true;
  const Expr& expr = program_.expr(last);
  if (expr.kind != ExprKind::binary || (expr.op != Op::add && expr.op != Op::sub)) return false;
  const bool left = is_index(program_, expr.args[0], index) && !mentions(program_, expr.args[1], index);
  const bool right = is_index(program_, expr.args[1], index) && !mentions(program_, expr.args[0], index);
  return left || (right && expr.op == Op::add);
}

std::string Printer::identity(ReduceOp op, NumberClass number) const {
  const bool is_real = number == NumberClass::real;
  switch (op) {
    case ReduceOp::sum:
      return "0";
    case ReduceOp::prod:
      return "1";
    case ReduceOp::max:
      return is_real ? "-" + real_ + "(__builtin_inff())" : "INT64_MIN";
    case ReduceOp::min:
      return is_real ? real_ + "(__builtin_inff())" : "INT64_MAX";
    case ReduceOp::any:
      return "false";
    case ReduceOp::all:
      return "true";
    default:
      return "0";
  }
}

std::string Printer::combine(ReduceOp op, const std::string& accumulator, const std::string& value) {
  switch (op) {
    case ReduceOp::sum:
      return fmt::format("{} += {};", accumulator, value);
    case ReduceOp::prod:
      return fmt::format("{} *= {};", accumulator, value);
    case ReduceOp::max:
      need("larger");
      return fmt::format("{0} = larger({0}, {1});", accumulator, value);
    case ReduceOp::min:
      need("smaller");
      return fmt::format("{0} = smaller({0}, {1});", accumulator, value);
    case ReduceOp::any:
      return fmt::format("{0} = {0} || ({1});", accumulator, value);
    case ReduceOp::all:
      return fmt::format("{0} = {0} && ({1});", accumulator, value);
    default:
      return {};
  }
}

}  // namespace ako::synth
