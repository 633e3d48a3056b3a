// The visitors of columns.h: names for an INSERT, binding a record to it, reading a record from a row.
//
// Thread-safe as the statement they work on. Binding throws SQLite::Exception; reading notes what does not fit and goes on.
// Internal to results/store.
#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "results/records.h"

namespace hbmark::store {

// "uuid,label" and ":uuid,:label".
struct ColumnNames {
  std::string names, parameters;

  void operator()(const char* column, const auto&) {
    names += (names.empty() ? "" : ",") + std::string(column);
    parameters += (parameters.empty() ? ":" : ",:") + std::string(column);
  }
  void empty_is_null(const char* column, const std::string& value) { (*this)(column, value); }
  template <class T>
  void group(const std::optional<T>&, const char*, auto members) {
    const T nothing{};
    members(nothing, *this);
  }
};

// SQLite would store NaN as NULL, which means "absent" here; the text 'NaN' stays what it is in a REAL column.
inline void bind_real(SQLite::Statement& statement, const std::string& parameter, double value) {
  if (std::isnan(value)) {
    statement.bind(parameter, "NaN");
  } else {
    statement.bind(parameter, value);
  }
}
inline double read_real(const SQLite::Column& column) {
  return column.isText() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

// Leaves what is absent unbound, which is NULL in a fresh statement.
struct Binder {
  SQLite::Statement& statement;

  void operator()(const char* column, const std::string& value) { statement.bind(name(column), value); }
  void operator()(const char* column, std::int64_t value) { statement.bind(name(column), value); }
  void operator()(const char* column, int value) { statement.bind(name(column), value); }
  void operator()(const char* column, double value) { bind_real(statement, name(column), value); }
  void operator()(const char* column, Outcome value) { statement.bind(name(column), std::string(outcome_name(value))); }
  template <class T>
  void operator()(const char* column, const std::optional<T>& value) {
    if (value) (*this)(column, *value);
  }
  void operator()(const char* column, const std::vector<int>& value) { json(column, value); }
  void operator()(const char* column, const std::vector<std::string>& value) { json(column, value); }
  void operator()(const char* column, const std::map<std::string, std::string>& value) { json(column, value); }
  void operator()(const char* column, const std::map<int, double>& value) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [node, share] : value) object[std::to_string(node)] = share;
    json(column, object);
  }
  void empty_is_null(const char* column, const std::string& value) {
    if (!value.empty()) (*this)(column, value);
  }
  template <class T>
  void group(const std::optional<T>& value, const char*, auto members) {
    if (value) members(*value, *this);
  }

 private:
  static std::string name(const char* column) { return ":" + std::string(column); }
  void json(const char* column, const nlohmann::json& value) {
    statement.bind(name(column), value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
};

// Reads the current row by column name. What does not fit the record is kept in `problem`, the first one.
struct Reader {
  SQLite::Statement& statement;
  std::string problem{};

  void operator()(const char* column, std::string& value) { value = statement.getColumn(column).getString(); }
  void operator()(const char* column, std::int64_t& value) { value = statement.getColumn(column).getInt64(); }
  void operator()(const char* column, int& value) { value = statement.getColumn(column).getInt(); }
  void operator()(const char* column, double& value) { value = read_real(statement.getColumn(column)); }
  void operator()(const char* column, Outcome& value) {
    const std::string text = statement.getColumn(column).getString();
    const auto known = outcome_from_name(text);
    if (known) {
      value = *known;
    } else {
      complain(column, text);
    }
  }
  template <class T>
  void operator()(const char* column, std::optional<T>& value) {
    value.reset();
    if (!statement.getColumn(column).isNull()) (*this)(column, value.emplace());
  }
  void operator()(const char* column, std::vector<int>& value) { json(column, value); }
  void operator()(const char* column, std::vector<std::string>& value) { json(column, value); }
  void operator()(const char* column, std::map<std::string, std::string>& value) { json(column, value); }
  void operator()(const char* column, std::map<int, double>& value) {
    std::map<std::string, nlohmann::json> by_text;
    json(column, by_text);
    value.clear();
    for (const auto& [node, share] : by_text) {
      int index = 0;
      const auto [end, error] = std::from_chars(node.data(), node.data() + node.size(), index);
      if (error != std::errc() || end != node.data() + node.size()) return complain(column, node);
      // JSON has no NaN: it was written as null.
      value[index] = share.is_number() ? share.get<double>() : std::numeric_limits<double>::quiet_NaN();
    }
  }
  void empty_is_null(const char* column, std::string& value) { (*this)(column, value); }
  template <class T>
  void group(std::optional<T>& value, const char* key, auto members) {
    value.reset();
    if (!statement.getColumn(key).isNull()) members(value.emplace(), *this);
  }

 private:
  void complain(const char* column, const std::string& text) {
    if (problem.empty()) problem = "column " + std::string(column) + " holds '" + text.substr(0, 80) + "'";
  }
  template <class T>
  void json(const char* column, T& value) {
    const std::string text = statement.getColumn(column).getString();
    try {
      nlohmann::json::parse(text).get_to(value);
    } catch (const nlohmann::json::exception&) {
      complain(column, text);
    }
  }
};

}  // namespace hbmark::store
