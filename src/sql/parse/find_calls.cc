#include "sql/parse/find_calls.h"

namespace caudal::sql {
namespace {

// Collects the children of a node, whatever its form.
struct Children {
  std::vector<const Expression*>& out;

  void Add(const ExpressionPtr& child) const {
    if (child) out.push_back(child.get());
  }
  void Add(const ExpressionList& list) const {
    for (const ExpressionPtr& child : list) Add(child);
  }

  void operator()(const Identifier&) const {}
  void operator()(const Literal&) const {}
  void operator()(const IntervalLiteral&) const {}
  void operator()(const Symbol&) const {}
  void operator()(const Unary& node) const { Add(node.operand); }
  void operator()(const Binary& node) const {
    Add(node.left);
    Add(node.right);
  }
  void operator()(const Is& node) const { Add(node.operand); }
  void operator()(const Between& node) const {
    Add(node.operand);
    Add(node.low);
    Add(node.high);
  }
  void operator()(const InList& node) const {
    Add(node.operand);
    Add(node.values);
  }
  void operator()(const Like& node) const {
    Add(node.operand);
    Add(node.pattern);
    Add(node.escape);
  }
  void operator()(const Case& node) const {
    Add(node.operand);
    for (const Case::When& when : node.whens) {
      Add(when.conditions);
      Add(when.result);
    }
    Add(node.otherwise);
  }
  void operator()(const Cast& node) const { Add(node.operand); }
  void operator()(const Call& node) const {
    for (const Argument& argument : node.arguments) Add(argument.value);
    Add(node.filter);
  }
  void operator()(const JsonCall& node) const {
    Add(node.input);
    Add(node.path);
    if (node.on_empty) Add(node.on_empty->default_value);
    if (node.on_error) Add(node.on_error->default_value);
  }
  void operator()(const JsonConstructor& node) const { Add(node.arguments); }
  void operator()(const RowConstructor& node) const { Add(node.fields); }
  void operator()(const ArrayConstructor& node) const { Add(node.elements); }
  void operator()(const MapConstructor& node) const { Add(node.entries); }
  void operator()(const ItemAccess& node) const {
    Add(node.collection);
    Add(node.index);
  }
  void operator()(const FieldAccess& node) const { Add(node.operand); }
};

template <typename Node>
bool Has(const Expression& expression, const std::function<bool(const Node&)>& wanted) {
  const Node* node = std::get_if<Node>(&expression.node);
  if (node != nullptr && wanted(*node)) return true;
  std::vector<const Expression*> children;
  std::visit(Children{children}, expression.node);
  for (const Expression* child : children) {
    if (Has(*child, wanted)) return true;
  }
  return false;
}

}  // namespace

bool HasCall(const Expression& expression, const std::function<bool(const Call&)>& wanted) {
  return Has(expression, wanted);
}

bool HasIdentifier(const Expression& expression, const std::function<bool(const Identifier&)>& wanted) {
  return Has(expression, wanted);
}

}  // namespace caudal::sql
