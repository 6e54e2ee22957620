/* One library's self-test. */
int gfsmith_selftest(void);

int main(void) { return gfsmith_selftest(); }
