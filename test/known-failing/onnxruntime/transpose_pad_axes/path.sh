# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy --skip-delta-passes arguments,data -o m.json
repro m.json --note 'TransposeOptimizer moves the Transpose behind Pad and puts pads into the other order by a Gather that it inserts; since opset 18 there are only as many pads as axes. It is right with TransposeOptimizer switched off.' \
  --issue ISSUE.md
