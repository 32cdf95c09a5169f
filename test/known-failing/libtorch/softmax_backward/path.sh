# needs: explain list backends | grep '^libtorch ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
# The output is one that a softmax gives.
minify model.json --input model.safetensors --backend libtorch --accuracy --delta-passes -data,operands -o m.json
repro report m.json --note 'The kernel ignores the strides of output and reads it as if it were contiguous. The right result is grad_output * output - output * sum(grad_output * output).' \
  --data real --issue ISSUE.md \
  --checked 'fixed by #139740 (November 2024)'
