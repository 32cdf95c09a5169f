# Writes the source that says of which build a shared library is: the same for two libraries whose C++ interfaces agree.
#   cmake -DLIB=FOLDER -DBUILD=TEXT -DOUTPUT=FILE -P build_id.cmake
file(GLOB_RECURSE headers ${LIB}/*.h)
list(SORT headers)
set(all "${BUILD}")
foreach(header IN LISTS headers)
  file(SHA256 ${header} hash)
  string(APPEND all " ${hash}")
endforeach()
string(SHA256 id "${all}")
file(WRITE ${OUTPUT} "extern \"C\" const char* whittle_build_id() { return \"${id}\"; }\n")
