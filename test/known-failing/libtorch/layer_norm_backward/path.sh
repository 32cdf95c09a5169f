# needs: explain list backends | grep '^libtorch ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
# The statistics are those of x, as the forward op gives them.
minify model.json --input model.safetensors --backend libtorch --accuracy --delta-passes -dims,data,operands -o m.json
repro report m.json --note 'The kernel ignores the strides of mean and rstd and reads them as if they were contiguous. With mean.contiguous() and rstd.contiguous() the result is right.' \
  --data real --issue ISSUE.md \
  --checked 'newer source, [3de78edb](https://github.com/pytorch/pytorch/blob/3de78edb/aten/src/ATen/native/layer_norm.cpp), read, not run: layer_norm_backward_cpu still passes mean and rstd to the kernel unchanged'
