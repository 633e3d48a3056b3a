#include "bench/cli/declare.h"

#include <CLI/CLI.hpp>

namespace hbmark::cli {

namespace {

// An empty value is a shell variable that was not set: taken for "not given", it would run something else than was meant.
std::string refuse_empty(const std::string& value) {
  return value.empty() ? "its value is empty: give one, or leave the option out (is a shell variable unset?)" : "";
}

}  // namespace

void add_positional(CLI::App& app, const char* name, std::string& into, const char* help) {
  app.add_option(name, into, help);
}

void add_value(CLI::App& app, const char* names, std::string& into, const char* type, const char* help) {
  app.add_option(names, into, help)->check(CLI::Validator(refuse_empty, ""))->type_name(type);
}

void add_values(CLI::App& app, const char* names, std::vector<std::string>& into, const char* type, const char* help) {
  app.add_option(names, into, help)->check(CLI::Validator(refuse_empty, ""))->type_name(type)->allow_extra_args(false);
}

void add_switch(CLI::App& app, const char* names, bool& into, const char* help) { app.add_flag(names, into, help); }

}  // namespace hbmark::cli
