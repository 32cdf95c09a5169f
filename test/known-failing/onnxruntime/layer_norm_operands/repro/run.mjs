// ONNX Runtime 1.30.0, CPU: ReduceMean, Sub, Pow, Add, Sqrt, Div, Mul gives -1.46264, expected 1.46264, from basic
// on, by LayerNormFusionL1.
// Right with optimization.disable_specified_optimizers = LayerNormFusionL1.
//
//   npm install onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [-1.8839084, 0.22760794, -0.22143789, 0.08341854], [1, 4]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = [...(await session.run({ x })).y.data];
}
const expected = [1.4626398, -0.37810862, -0.2314641, -0.08424258];
const wrong = (v) => v.some((a, i) => !(Math.abs(a - expected[i]) <= 0.000156264));
console.log(y, 'expected:', expected);
process.exit(wrong(y.disabled) ? 2 : wrong(y.basic) ? 1 : 0);
