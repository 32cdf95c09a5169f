# needs: explain --list-backends | grep '^ts ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
minify model.json --backend ts --accuracy -o m.json
repro m.json --note 'mul(bool tensor, 1) is an int64 tensor by type promotion; PeepholeOptimizeAliasSensitive takes it for the bool tensor itself, so that what is computed of it is logic.' \
  --anonymize --issue ISSUE.md \
  --checked 'newer source, [035290b7](https://github.com/pytorch/pytorch/blob/035290b7/torch/csrc/jit/passes/peephole_alias_sensitive.cpp), read, not run: PeepholeOptimizeAliasSensitive still asks whether 1 is an int, not whether x is bool'
