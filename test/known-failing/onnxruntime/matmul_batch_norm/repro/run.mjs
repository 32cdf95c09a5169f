// ONNX Runtime 1.30.0, CPU: BatchNormalization(Transpose(MatMul(x))) gives 0.1380386, expected 0.03304362, from basic
// on, by MatMul_BatchNormalization_Fusion.
// Right with optimization.disable_specified_optimizers = MatMul_BatchNormalization_Fusion.
//
//   npm install onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [1.53125, -0.28125, -1.90625, 1.875], [2, 2]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = [...(await session.run({ x })).y.data];
}
const expected = [0.35798043, 0.033043623, 0.7538253, 0.10032606];
const wrong = (v) => v.some((a, i) => !(Math.abs(a - expected[i]) <= 8.538253e-05));
console.log(y, 'expected:', expected);
process.exit(wrong(y.disabled) ? 2 : wrong(y.basic) ? 1 : 0);
