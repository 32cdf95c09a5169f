/* A library with the name of LibTorch and nothing of what it has. */
int other_torch(void);
int other_torch(void) { return 3; }
