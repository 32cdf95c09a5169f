// ONNX Runtime 1.30.0, CPU: SIGSEGV at run of y0 = BatchNormalization(y1, w2, w0, w1, w4), y1 = Reshape(MatMul(x,
// w5), shape=[0, 0]) of float[3, 2], from basic on, by MatMul_BatchNormalization_Fusion.
// Right with optimization.disable_specified_optimizers = MatMul_BatchNormalization_Fusion.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [0, 0, 0, 0, 0, 0], [3, 2]);
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  await session.run({ x });
  console.log(graphOptimizationLevel, 'does not crash');
}
