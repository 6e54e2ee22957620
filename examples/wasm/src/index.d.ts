/** Erasure coding over GF(2^8) in WebAssembly: k data shards, m parity shards, any k of them give the data. */

/** A set of kernels, named as gfsmith_isa() names it. */
export type Kernels = 'wasm_relaxed_simd' | 'wasm_simd128' | 'scalar';

/** Why something was refused: the statuses of gfsmith.h, and EFORMAT for shard files. */
export type ErrorCode = 'EINVAL' | 'ENOMEM' | 'ENOTMDS' | 'ETOOMANY' | 'EUNSUPPORTED' | 'ESINGULAR' | 'EFORMAT';

/** What the library or a shard file caused. Mistakes in arguments are TypeError or RangeError. */
export class GfsmithError extends Error {
  constructor(code: ErrorCode, message: string);
  readonly code: ErrorCode;
}

/** The kernel sets that this JavaScript engine can run, best first. */
export function supportedKernels(): Kernels[];

export interface CodecOptions {
  /** "cauchy" (default), "vandermonde", "backblaze" (or "minio", ...), "lch", "hdfs", "raid6", ...: see gfsmith.h. */
  code?: string;
  /** Data shards, at least 1. */
  k: number;
  /** Parity shards, at least 1; k + m <= 255. */
  m: number;
  /** Which kernels to run: the best ones that the engine supports, if not given. */
  kernels?: Kernels | 'auto';
}

/**
 * One code and shape. Shards are Uint8Arrays of one length, any length; only a window of about 512 KiB of them is
 * copied into WebAssembly memory at a time. A codec holds such a window until free() is called or, at the latest,
 * until it is garbage.
 */
export class Codec {
  private constructor();

  /**
   * Throws RangeError for k or m, GfsmithError EINVAL for an unknown code, ENOTMDS where the code cannot repair
   * every loss at this shape, EUNSUPPORTED where the engine cannot run the kernels.
   */
  static create(options: CodecOptions): Promise<Codec>;

  readonly code: string;
  readonly k: number;
  readonly m: number;
  readonly kernels: Kernels;
  /** Bytes of each shard that are processed at a time. */
  readonly chunk: number;

  /** The m parity shards of k data shards: written to `parity` if given, else to new arrays. */
  encode(data: Uint8Array[], parity?: Uint8Array[]): Uint8Array[];

  /** Bring the parities up to date after data shard `index` changed: delta = old XOR new. */
  update(index: number, delta: Uint8Array, parity: Uint8Array[]): void;

  /** Do the parities match the data? `shards`: k data, then m parity. */
  check(shards: Uint8Array[]): boolean;

  /**
   * All k + m shards, the missing ones (null or undefined) rebuilt; with `wanted`, only those of them, and the
   * others stay null. The given arrays are not changed. Throws GfsmithError ETOOMANY if more than m are missing.
   */
  reconstruct(
    shards: readonly (Uint8Array | null | undefined)[],
    options?: { wanted?: number[] },
  ): (Uint8Array | null)[];

  /** Give the memory back. May be called twice; any other call afterwards throws. */
  free(): void;
}

export interface Progress {
  phase: 'encode' | 'checksum' | 'rebuild';
  /** Bytes done, and bytes in all, of this phase. */
  done: number;
  total: number;
}

export interface FileOptions {
  kernels?: Kernels | 'auto';
  /** Called now and then, from within the work. */
  onProgress?: (progress: Progress) => void;
}

export interface SplitOptions extends CodecOptions, FileOptions {
  /** The file name that the shards remember: 1 to 247 bytes of UTF-8, no "/". */
  name: string;
  /** Bytes of a block, a multiple of 64 up to 1 MiB; 65536 if not given. */
  block?: number;
}

/** Cut a file into k + m shard files in the format of examples/stripe, data first. Each has a header and checksums. */
export function split(bytes: Uint8Array, options: SplitOptions): Promise<Uint8Array[]>;

/** The file name of a shard: NAME.000.gfs and so on. */
export function shardName(name: string, index: number): string;

export interface ShardReport {
  index: number;
  state: 'intact' | 'damaged' | 'missing';
  /** Where in `files` it was found. */
  position: number | null;
  /** What is wrong with it; null if intact. */
  reason: string | null;
}

export interface Unreadable {
  position: number;
  reason: string;
}

export interface Report {
  /** Says which set it is: the same for all of its shards. */
  id: string;
  code: string;
  k: number;
  m: number;
  block: number;
  /** Of the original, in bytes. */
  length: number;
  name: string;
  payloadBytes: number;
  /** All k + m, by index. */
  shards: ShardReport[];
  /** Files whose header cannot be read, so that they are no shard of the set; their shards count as missing. */
  unreadable: Unreadable[];
  /** Shards that are not intact. */
  lost: number;
  /** lost <= m */
  repairable: boolean;
}

/**
 * Look at shard files, in any order, null for what is not there; checksums decide what is intact. Throws
 * GfsmithError EFORMAT if no header can be read, if there are shards of several sets, or one shard twice.
 */
export function inspect(files: readonly (Uint8Array | null | undefined)[], options?: FileOptions): Promise<Report>;

export interface Repair {
  /** All k + m shard files: the intact ones as given, the others rebuilt. */
  shards: Uint8Array[];
  /** Indices of the rebuilt ones. */
  rebuilt: number[];
  /** What was found before. */
  report: Report;
}

/** Rebuild what is not intact. Errors: those of inspect, and ETOOMANY if more than m shards are lost. */
export function repair(files: readonly (Uint8Array | null | undefined)[], options?: FileOptions): Promise<Repair>;

/** The original file; lost data shards are rebuilt on the way. Errors as for repair. */
export function join(
  files: readonly (Uint8Array | null | undefined)[],
  options?: FileOptions,
): Promise<{ name: string; bytes: Uint8Array }>;
