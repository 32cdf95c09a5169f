// ONNX Runtime 1.30.0, CPU: Transpose(Pad(Transpose<perm=[1, 0]>(x), pads=[0, 0], axes=[0])) of float[2, 1] fails to
// run: indices element out of data bounds, idx=3 must be within the inclusive range [-2,1], from basic on.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [0, 0], [2, 1]);
const results = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  try {
    const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
    await session.run({ x });
    results[graphOptimizationLevel] = 'no error';
  } catch (error) {
    results[graphOptimizationLevel] = error.message;
  }
  console.log(`${graphOptimizationLevel}: ${results[graphOptimizationLevel]}`);
}
process.exit(results.disabled !== 'no error' ? 2 : results.basic !== 'no error' ? 1 : 0);
