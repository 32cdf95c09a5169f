// ONNX Runtime 1.30.0, CPU: Gather(x0, Range(x1, x2, x3)) of float[3] x0 gives shape [0], expected [3], from extended
// on, by GatherToSliceFusion.
// Right with optimization.disable_specified_optimizers = GatherToSliceFusion.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x0 = new ort.Tensor('float32', [0, 0, 0], [3]);
const x1 = new ort.Tensor('int64', [2n], []);
const x2 = new ort.Tensor('int64', [-1n], []);
const x3 = new ort.Tensor('int64', [-1n], []);
const y = {};
for (const graphOptimizationLevel of ['basic', 'extended']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = (await session.run({ x0, x1, x2, x3 })).y.dims.join('x');
}
console.log(`basic: ${y.basic}, extended: ${y.extended}, expected: 3`);
process.exit(y.basic !== '3' ? 2 : y.extended !== '3' ? 1 : 0);
