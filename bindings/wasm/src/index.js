// gfsmith-wasm: erasure coding over GF(2^8) in WebAssembly. index.d.ts declares the public interface.
export { Codec } from './codec.js';
export { supportedKernels } from './engine.js';
export { GfsmithError } from './errors.js';
export { Sketch } from './sketch.js';
export { inspect, join, repair, shardIndex, shardName, split } from './files.js';
