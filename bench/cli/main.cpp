#include <cstdio>
int main() { std::puts("hbmark " HBMARK_VERSION); }
