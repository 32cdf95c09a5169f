// ONNX Runtime 1.30.0, CPU: Transpose(Resize<axes=[3, 1, 2, 0]>(Transpose<perm=[0, 2, 3, 1]>(x), scales=[1, 1, 2,
// 1])) of float[1, 1, 2, 1] gives shape [1, 1, 2, 2], expected [1, 2, 2, 1], from extended on, by TransposeOptimizer.
// Right with optimization.disable_specified_optimizers = TransposeOptimizer_CPUExecutionProvider.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [0, 0], [1, 1, 2, 1]);
const y = {};
for (const graphOptimizationLevel of ['basic', 'extended']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = (await session.run({ x })).y.dims.join('x');
}
console.log(`basic: ${y.basic}, extended: ${y.extended}, expected: 1x2x2x1`);
process.exit(y.basic !== '1x2x2x1' ? 2 : y.extended !== '1x2x2x1' ? 1 : 0);
