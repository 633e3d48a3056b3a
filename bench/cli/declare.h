// Declaring the options of a command without seeing the parser's headers, which cost seconds a file. One thread.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hbmark::cli {

// `into` has to live as long as the parser. Values are read as text; the commands check them themselves and say better why
// not.
void add_positional(CLI::App& app, const char* name, std::string& into, const char* help);
void add_value(CLI::App& app, const char* names, std::string& into, const char* type, const char* help);
void add_values(CLI::App& app, const char* names, std::vector<std::string>& into, const char* type, const char* help);
void add_switch(CLI::App& app, const char* names, bool& into, const char* help);

}  // namespace hbmark::cli
