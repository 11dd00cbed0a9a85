// Python's infix grammar, so that an expression means what a reader of PyTorch code expects.
//
//   or := and ('or' and)*          and := not ('and' not)*        not := 'not' not | comparison
//   comparison := sum [('=='|'!='|'<'|'<='|'>'|'>=') sum]         (no chains: a < b < c)
//   sum := term (('+'|'-') term)*  term := unary (('*'|'//'|'/'|'%') unary)*
//   unary := '-' unary | power     power := atom ['**' unary]
//   atom := INTEGER | FLOAT | SYMBOL | '(' or ')' | FUNCTION '(' or (',' or)* ')'
//
// A run of one n-ary operator is one node: a + b + c has three operands. `a - 3` is Add(a, -3) and
// `a - b` is Add(a, Neg(b)); Neg of a constant, which only a program can build, prints as -(3). A
// float is never the second part of a difference: `a - 0.5` is Add(a, Neg(0.5)).
#include "spec/sym_expr_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace graphgate::spec {
namespace {

// A level of a tree takes at most three levels of recursion here: a sign or `not`, and parentheses.
constexpr int kMaxNesting = 3 * kMaxSymExprDepth + 2;

// An expression with the depth of its tree, a leaf being 1.
struct Tree {
  SymExpr expr;
  int depth = 1;
};

class ExprReader {
 public:
  explicit ExprReader(TextReader& reader) : reader_(reader) {}

  Result<Tree> read_or() { return read_run("or", SymOp::kOr, &ExprReader::read_and); }

 private:
  using Read = Result<Tree> (ExprReader::*)();

  // Counts how deep the reader itself has recursed.
  struct Nesting {
    explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth_;
  };

  Result<Tree> make(SymOp op, std::vector<Tree> parts) {
    Tree tree;
    std::vector<SymExpr> operands;
    for (Tree& part : parts) {
      tree.depth = std::max(tree.depth, part.depth + 1);
      operands.push_back(std::move(part.expr));
    }
    if (tree.depth > kMaxSymExprDepth) return too_deep();
    tree.expr = SymExpr::apply(op, std::move(operands));
    return tree;
  }

  Error too_deep() const {
    return reader_.error_at(reader_.peek(), "expected an expression of depth " +
                                                std::to_string(kMaxSymExprDepth) +
                                                " or less, found a deeper one");
  }

  Result<Tree> read_run(std::string_view word, SymOp op, Read read) {
    std::vector<Tree> parts;
    do {
      GRAPHGATE_TRY(parts.emplace_back(), (this->*read)());
    } while (reader_.accept(word));
    if (parts.size() == 1) return std::move(parts.front());
    return make(op, std::move(parts));
  }

  Result<Tree> read_and() { return read_run("and", SymOp::kAnd, &ExprReader::read_not); }

  Result<Tree> read_not() {
    const Nesting nesting(nesting_);
    if (nesting_ > kMaxNesting) return too_deep();
    if (!reader_.accept("not")) return read_comparison();
    GRAPHGATE_TRY(Tree inner, read_not());
    return make(SymOp::kNot, {std::move(inner)});
  }

  Result<Tree> read_comparison() {
    GRAPHGATE_TRY(Tree left, read_sum());
    for (const auto& [op, mark] : kSymComparisons) {
      if (!reader_.accept(mark)) continue;
      GRAPHGATE_TRY(Tree right, read_sum());
      return make(op, {std::move(left), std::move(right)});
    }
    return left;
  }

  Result<Tree> read_sum() {
    std::vector<Tree> parts;
    GRAPHGATE_TRY(parts.emplace_back(), read_term());
    while (reader_.at("+") || reader_.at("-")) {
      const bool minus = reader_.take().text == "-";
      auto part = minus ? read_subtracted() : read_term();
      if (!part.ok()) return part;
      parts.push_back(std::move(part).value());
    }
    if (parts.size() == 1) return std::move(parts.front());
    return make(SymOp::kAdd, std::move(parts));
  }

  // What follows a binary minus: a bare number becomes a negative constant.
  Result<Tree> read_subtracted() {
    const Token first = reader_.peek();
    GRAPHGATE_TRY(Tree term, read_factors(/*negative_literal=*/true));
    const bool bare = first.kind == TokenKind::kInteger && term.expr.is_constant();
    if (bare) return term;
    return make(SymOp::kNeg, {std::move(term)});
  }

  Result<Tree> read_term() { return read_factors(/*negative_literal=*/false); }

  static bool at_factor(const TextReader& reader) {
    return reader.at("*") || reader.at("//") || reader.at("/") || reader.at("%");
  }

  // unary (('*' | '//' | '/' | '%') unary)*. With negative_literal, a number that stands alone is
  // read as its negative (so that the smallest 64-bit integer can be written).
  Result<Tree> read_factors(bool negative_literal) {
    GRAPHGATE_TRY(Tree left, negative_literal ? read_literal_or_unary() : read_unary());
    bool open_product = false;  // `left` is a product of this run, which takes more operands
    std::vector<Tree> factors;
    while (at_factor(reader_)) {
      const std::string_view mark = reader_.take().text;
      GRAPHGATE_TRY(Tree right, read_unary());
      if (mark == "*") {
        // `left` is moved only when a product opens, and made anew before it is read again.
        if (!std::exchange(open_product, true)) {
          factors.push_back(std::move(left));  // NOLINT(bugprone-use-after-move)
        }
        factors.push_back(std::move(right));
        continue;
      }
      if (std::exchange(open_product, false)) {
        GRAPHGATE_TRY(left, make(SymOp::kMul, std::exchange(factors, {})));
      }
      const SymOp op = mark == "%" ? SymOp::kMod : mark == "/" ? SymOp::kTrueDiv : SymOp::kFloorDiv;
      GRAPHGATE_TRY(left, make(op, {std::move(left), std::move(right)}));
    }
    if (open_product) return make(SymOp::kMul, std::move(factors));
    return left;
  }

  Result<Tree> read_literal_or_unary() {
    if (!reader_.at(TokenKind::kInteger)) return read_unary();
    TextReader ahead = reader_;
    (void)ahead.take();
    const bool alone = !at_factor(ahead) && !ahead.at("**");
    return alone ? read_literal(/*negative=*/true) : read_unary();
  }

  Result<Tree> read_unary() {
    const Nesting nesting(nesting_);
    if (nesting_ > kMaxNesting) return too_deep();
    if (!reader_.accept("-")) return read_power();
    if (reader_.at(TokenKind::kInteger)) {
      TextReader ahead = reader_;
      (void)ahead.take();
      if (!ahead.at("**")) return read_literal(/*negative=*/true);
    }
    if (reader_.at(TokenKind::kFloat)) {
      TextReader ahead = reader_;
      (void)ahead.take();
      if (!ahead.at("**")) return read_real(/*negative=*/true);
    }
    GRAPHGATE_TRY(Tree inner, read_unary());
    return make(SymOp::kNeg, {std::move(inner)});
  }

  Result<Tree> read_power() {
    GRAPHGATE_TRY(Tree base, read_atom());
    if (!reader_.accept("**")) return base;
    GRAPHGATE_TRY(Tree exponent, read_unary());
    return make(SymOp::kPow, {std::move(base), std::move(exponent)});
  }

  Result<Tree> read_literal(bool negative) {
    const Token token = reader_.take();
    const std::string digits = (negative ? "-" : "") + std::string(token.text);
    TextReader literal(digits, "");
    const auto value = literal.take_integer("an integer");
    if (!value.ok()) {
      return reader_.error_at(token, "the integer " + digits + " does not fit in 64 bits");
    }
    return Tree{SymExpr(value.value()), 1};
  }

  Result<Tree> read_real(bool negative) {
    const Token token = reader_.take();
    double value = 0;
    const auto [end, status] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (status != std::errc() || end != token.text.data() + token.text.size()) {
      return reader_.error_at(token, "the float " + std::string(token.text) + " is out of range");
    }
    return Tree{SymExpr::real(negative ? -value : value), 1};
  }

  Result<Tree> read_atom() {
    if (reader_.at(TokenKind::kInteger)) return read_literal(/*negative=*/false);
    if (reader_.at(TokenKind::kFloat)) return read_real(/*negative=*/false);
    if (reader_.accept("(")) {
      GRAPHGATE_TRY(Tree inner, read_or());
      GRAPHGATE_TRY_VOID(reader_.expect(")"));
      return inner;
    }
    const Token word = reader_.peek();
    if (word.kind != TokenKind::kWord || !is_symbol_name(word.text)) {
      return reader_.expected("an integer, a symbol, '-', 'not' or '('");
    }
    (void)reader_.take();
    for (const auto& [op, name] : kSymFunctions) {
      if (word.text == name && reader_.at("(")) return read_call(op, name);
    }
    return Tree{SymExpr::symbol(std::string(word.text)), 1};
  }

  Result<Tree> read_call(SymOp op, std::string_view name) {
    GRAPHGATE_TRY_VOID(reader_.expect("("));
    std::vector<Tree> parts;
    do {
      GRAPHGATE_TRY(parts.emplace_back(), read_or());
    } while (reader_.accept(","));
    if (!takes_operands(op, parts.size())) {
      if (parts.size() < 2) return reader_.expected("',' and another operand");
      const std::size_t most = op == SymOp::kWhere ? 3 : takes_operands(op, 1) ? 1 : 2;
      if (parts.size() < most) return reader_.expected("',' and another operand");
      return reader_.error_at(reader_.peek(), "expected " + std::to_string(most) +
                                                  (most == 1 ? " operand of " : " operands of ") +
                                                  std::string(name) + ", found " +
                                                  std::to_string(parts.size()));
    }
    GRAPHGATE_TRY_VOID(reader_.expect(")"));
    return make(op, std::move(parts));
  }

  TextReader& reader_;
  int nesting_ = 0;  // at most kMaxNesting
};

}  // namespace

bool is_symbol_name(std::string_view name) {
  return is_word(name) && name.find('.') == std::string_view::npos && name != "and" &&
         name != "or" && name != "not";
}

Result<SymExpr> read_sym_expr(TextReader& reader) {
  GRAPHGATE_TRY(Tree tree, ExprReader(reader).read_or());
  return std::move(tree.expr);
}

Result<SymExpr> parse_sym_expr(std::string_view text) {
  TextReader reader(text, "");
  reader.skip_line_ends();
  GRAPHGATE_TRY(SymExpr expr, read_sym_expr(reader));
  reader.skip_line_ends();
  if (!reader.at(TokenKind::kEnd)) return reader.expected("an operator or the end");
  return expr;
}

}  // namespace graphgate::spec
