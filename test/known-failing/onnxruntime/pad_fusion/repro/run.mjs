// ONNX Runtime 1.30.0, CPU: MaxPool<kernel_shape=[2]>(Pad(x, pads=[0, 0, 1, 0, 0, 0])) of float[1, 1, 1] gives -3,
// expected 0, where x = -3, from basic on, by Pad_Fusion.
// Right with optimization.disable_specified_optimizers = Pad_Fusion.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [-3], [1, 1, 1]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = (await session.run({ x })).y.data[0];
}
console.log(`disabled: ${y.disabled}, basic: ${y.basic}, expected: 0`);
process.exit(y.disabled !== 0 ? 2 : y.basic !== 0 ? 1 : 0);
