// ONNX Runtime 1.30.0, CPU: Mul(Div(1, x), x) of int64[1] gives 1, expected 0, where x = 3, from basic on, by
// DivMulFusion.
// Right with optimization.disable_specified_optimizers = DivMulFusion.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('int64', [3n], [1]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = (await session.run({ x })).y.data[0];
}
console.log(`disabled: ${y.disabled}, basic: ${y.basic}, expected: 0`);
process.exit(y.disabled !== 0n ? 2 : y.basic !== 0n ? 1 : 0);
