/* The library that needs_absent.so is linked with; kept where no linker looks at run time. */
int absent(void);
int absent(void) { return 0; }
