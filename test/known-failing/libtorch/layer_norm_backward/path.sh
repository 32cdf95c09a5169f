# needs: explain --list-backends | grep '^libtorch ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend libtorch --accuracy --skip-delta-passes dims,data,operands -o m.json
repro m.json --anonymize --issue ISSUE.md
