# needs: explain list backends | grep '^libtorch ' && test -e /usr/include/torch/csrc/api/include/torch/types.h
# The statistics are those of x, as the forward op gives them.
minify model.json --input model.safetensors --backend libtorch --accuracy --delta-passes -dims,data,operands -o m.json
repro report m.json --note 'The strides of mean and rstd are not looked at: they are read as if they were contiguous; with mean.contiguous() and rstd.contiguous() it is right.' \
  --data real --issue ISSUE.md \
  --checked 'newer source, [3de78edb](https://github.com/pytorch/pytorch/blob/3de78edb/aten/src/ATen/native/layer_norm.cpp), read, not run: layer_norm_backward_cpu still hands mean and rstd to the kernel as they are'
