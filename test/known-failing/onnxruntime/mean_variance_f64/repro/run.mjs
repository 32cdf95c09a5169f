// ONNX Runtime 1.30.0, CPU: MeanVarianceNormalization(x) of float16[1, 1, 1, 1] fails to load: Type Error: Type
// parameter (T) of Optype (Add) bound to different types (tensor(float16) and tensor(float) in node (), at all levels
// of optimization.
//
//   npm install onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float16', Uint16Array.of(0x0000), [1, 1, 1, 1]);
try {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
  await session.run({ x });
  console.log('no error');
} catch (error) {
  console.log(error.message);
  process.exitCode = 1;
}
