// gfsmith-wasm: erasure coding over GF(2^8) in WebAssembly. What is public, with types: index.d.ts.
export { Codec } from './codec.js';
export { supportedKernels } from './engine.js';
export { GfsmithError } from './errors.js';
export { inspect, join, repair, shardName, split } from './files.js';
