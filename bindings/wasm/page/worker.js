// The worker, which runs outside of the page's thread: holds the shards, damages and repairs them.
import { Codec, inspect, join, repair, shardIndex, split } from '../src/index.js';

/** @typedef {import('../src/index.js').Progress} Progress */

/** @type {(Uint8Array | null)[]} */
let shards = [];
let kernels = '';

/** @param {Uint8Array} bytes */
async function sha256(bytes) {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(sum, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Passes progress on, and measures the time of one phase.
 * @param {(progress: Progress) => void} report
 * @param {Progress['phase']} phase
 */
function stopwatch(report, phase) {
  let begin = 0;
  let end = 0;
  return {
    /** @param {Progress} progress */
    onProgress(progress) {
      report(progress);
      if (progress.phase !== phase) return;
      end = performance.now();
      if (progress.done === 0) begin = end;
    },
    /**
     * Bytes per second, or null if the clock is too coarse.
     * @param {number} bytes
     */
    rate: (bytes) => (end - begin >= 2 ? (bytes / (end - begin)) * 1000 : null),
  };
}

/** The handlers of messages: `send` reports progress, the result is the answer. */
const commands = {
  /**
   * @param {{bytes: ArrayBuffer, name: string, k: number, m: number}} message
   * @param {(progress: Progress) => void} send
   */
  async split({ bytes, name, k, m }, send) {
    const original = new Uint8Array(bytes);
    const before = await sha256(original);
    const watch = stopwatch(send, 'encode');
    shards = await split(original, { name, k, m, onProgress: watch.onProgress });
    const report = await inspect(shards);
    kernels = await running(k, m);
    return { report, before, kernels, rate: watch.rate(report.payloadBytes * k) };
  },

  /**
   * @param {{files: ArrayBuffer[], names: string[]}} message
   * @param {(progress: Progress) => void} send
   */
  async open({ files, names }, send) {
    const given = files.map((file) => new Uint8Array(file));
    const report = await inspect(given, { indices: names.map(shardIndex), onProgress: send });
    shards = report.shards.map(({ position }) => (position === null ? null : given[position]));
    kernels = await running(report.k, report.m);
    return { report, kernels };
  },

  /** @param {{index: number}} message */
  async destroy({ index }) {
    shards[index] = null;
  },

  /**
   * One bit of one byte, anywhere in the file: header or payload.
   * @param {{index: number}} message
   */
  async corrupt({ index }) {
    const file = shards[index];
    if (!file) return;
    const at = Math.floor(Math.random() * file.length);
    file[at] ^= 1 << Math.floor(Math.random() * 8);
  },

  /** Can the file be rebuilt from what is left? */
  async repairable() {
    return shards.some(Boolean) && (await inspect(shards)).repairable;
  },

  /**
   * @param {object} _message
   * @param {(progress: Progress) => void} send
   */
  async repair(_message, send) {
    const watch = stopwatch(send, 'rebuild');
    const { shards: whole, rebuilt, report } = await repair(shards, { onProgress: watch.onProgress });
    shards = whole;
    const after = await sha256((await join(shards)).bytes);
    return { rebuilt, after, rate: watch.rate(report.payloadBytes * report.k) };
  },

  /**
   * @param {object} _message
   * @param {(progress: Progress) => void} send
   */
  async join(_message, send) {
    const { name, bytes } = await join(shards, { onProgress: send });
    return { name, bytes: bytes.buffer, after: await sha256(bytes) };
  },
};

/**
 * The kernel set of a codec with this shape.
 * @param {number} k
 * @param {number} m
 */
async function running(k, m) {
  const codec = await Codec.create({ k, m });
  codec.free();
  return codec.kernels;
}

self.addEventListener('message', async ({ data: { id, command, ...message } }) => {
  const post = /** @type {(message: object, transfer?: Transferable[]) => void} */ (self.postMessage.bind(self));
  try {
    const run = /** @type {Record<string, (message: any, send: (p: Progress) => void) => Promise<any>>} */ (commands);
    const result = await run[command](message, (progress) => post({ id, progress }));
    post({ id, result }, result?.bytes ? [result.bytes] : []);
  } catch (error) {
    post({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
