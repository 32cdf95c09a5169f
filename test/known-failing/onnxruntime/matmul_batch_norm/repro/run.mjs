// ONNX Runtime 1.30.0, CPU: BatchNormalization(Transpose(MatMul(x, w1[2, 2])), scale=[2, 3], [2, 3], input_mean=[2,
// 3], input_var=[2, 3]) of float[2, 2] gives 14.72789, expected 16.85638, from basic on, by
// MatMul_BatchNormalization_Fusion.
// Right with optimization.disable_specified_optimizers = MatMul_BatchNormalization_Fusion.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [-3, 3, 3, -1], [2, 2]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = Array.from((await session.run({ x })).y.data, (v) => +v.toPrecision(7));
}
const expected = [-13.55631, 16.856384, -0.8284199, 11.660239];
const wrong = (v) => v.some((a, i) => !(Math.abs(a - expected[i]) <= 0.0017));
console.log(`disabled: [${y.disabled.join(', ')}], basic: [${y.basic.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(wrong(y.disabled) ? 2 : wrong(y.basic) ? 1 : 0);
