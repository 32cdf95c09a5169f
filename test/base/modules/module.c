// Modules of this build, of another one, and of nobody's.
#ifdef OTHER
const char* whittle_build_id(void) { return "another"; }
#endif
int answer(void) { return 42; }
