// hbmark: see commands.h. Nothing is done before the command line is parsed.
#include "bench/cli/commands.h"

int main(int argc, char** argv) { return hbmark::cli::run_program(argc, argv); }
