// OpenCV 5.0.0 dnn, CPU: MaxPool<kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER">(x) of float[1, 1, 1, 4]
// gives 0.25, expected 0.21875.
//
//   npm install @techstark/opencv-js@5.0.0-release.1 && node run.mjs
import fs from 'node:fs';
import opencv from '@techstark/opencv-js';

const cv = opencv instanceof Promise ? await opencv : opencv;
if (!cv.Mat) await new Promise((done) => { cv.onRuntimeInitialized = done; });

cv.FS_createDataFile('/', 'model.onnx', fs.readFileSync('model.onnx'), true, false, false);
const net = cv.readNetFromONNX('/model.onnx');
net.setInput(cv.blobFromImage(cv.matFromArray(1, 4, cv.CV_32F, [2, 0.25, 0.21875, 0.09375])), 'x');
const y = [...net.forward('y').data32F];

const expected = [2, 0.21875];
console.log(`y: [${y.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(y.some((a, i) => !(Math.abs(a - expected[i]) <= 0.00021)) ? 1 : 0);
