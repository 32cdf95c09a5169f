# needs: explain --list-backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --accuracy -o m.json
repro m.json --note 'mul(bool tensor, 1) is an int64 tensor by type promotion; the peephole pass replaces it by the bool tensor itself, so that the sum below is a logical or.' \
  --anonymize --issue ISSUE.md \
  --checked 'newer source, [035290b7](https://github.com/pytorch/pytorch/blob/035290b7/torch/csrc/jit/passes/peephole_alias_sensitive.cpp), read, not run: it is still asked whether 1 is an int, not whether x is bool'
