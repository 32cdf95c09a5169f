# needs: explain --list-backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --accuracy -o m.json
repro m.json --anonymize --issue ISSUE.md \
  --checked 'newer source (035290b7), read, not run: peephole_alias_sensitive.cpp still asks whether 1 is an int, not whether x is bool'
