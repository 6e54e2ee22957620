/** Erasure coding over GF(2^8) in WebAssembly: k data shards and m parity shards. Any k of them give the data, unless
 * the code is "lrc", which repairs some losses of m shards and not others (docs/codes.md). */

/** A set of kernels, named as gfsmith_isa() names it. */
export type Kernels =
  // begin facts: sets of WebAssembly in TypeScript
  | 'wasm_relaxed_simd'
  | 'wasm_simd128'
  | 'scalar'
  // end facts
  ;

/** Reason of an error: the statuses of gfsmith.h, and EFORMAT for shard files. */
export type ErrorCode =
  // begin facts: errors in TypeScript
  | 'EINVAL'
  | 'ENOMEM'
  | 'ENOTMDS'
  | 'ETOOMANY'
  | 'EUNSUPPORTED'
  | 'ESINGULAR'
  // end facts
  | 'EFORMAT';

/** An error of the library or of a shard file. Wrong arguments are TypeError or RangeError. */
export class GfsmithError extends Error {
  constructor(code: ErrorCode, message: string);
  readonly code: ErrorCode;
}

/** The kernel sets that this JavaScript engine can run, best first. */
export function supportedKernels(): Kernels[];

export interface CodecOptions {
  /** "cauchy" (default), "vandermonde", "backblaze" (or "minio", ...), "lch", "hdfs", "raid6", ...: see gfsmith.h; or "lrc". */
  code?: string;
  /** Data shards, at least 1. */
  k: number;
  /** Parity shards, at least 1; k + m <= 255. */
  m: number;
  /** Groups of the code "lrc", 1 to k and less than m: m - l parities are over all data. 0 (default) for other codes. */
  l?: number;
  /** Kernels to run; default: the best ones that the engine supports. */
  kernels?: Kernels | 'auto';
}

/**
 * A code with a shape. Shards are Uint8Arrays of one length, any length; only a window of about 512 KiB of them
 * is copied into WebAssembly memory at a time. A codec holds such a window until free() is called or, at the
 * latest, until it is garbage collected.
 */
export class Codec {
  private constructor();

  /**
   * Throws RangeError for k, m or l, GfsmithError EINVAL for an unknown code, ENOTMDS if the code cannot repair
   * every loss at this shape, EUNSUPPORTED if the engine cannot run the kernels; Error if the module cannot be loaded.
   */
  static create(options: CodecOptions): Promise<Codec>;

  readonly code: string;
  readonly k: number;
  readonly m: number;
  readonly l: number;
  readonly kernels: Kernels;
  /** Bytes of each shard that are processed at a time. */
  readonly chunk: number;

  /** The m parity shards of k data shards: written to `parity` if given, else to new arrays. */
  encode(data: Uint8Array[], parity?: Uint8Array[]): Uint8Array[];

  /** Update the parities after data shard `index` changed: delta = old XOR new. */
  update(index: number, delta: Uint8Array, parity: Uint8Array[]): void;

  /** Do the parities match the data? `shards`: k data, then m parity. */
  check(shards: Uint8Array[]): boolean;

  /**
   * All k + m shards, the missing ones (null or undefined) rebuilt; with `wanted`, only those, and the others
   * remain null. The given arrays are not changed. Throws GfsmithError ETOOMANY if more than m are missing,
   * ESINGULAR if the others do not determine them (only with "lrc").
   */
  reconstruct(
    shards: readonly (Uint8Array | null | undefined)[],
    options?: { wanted?: number[] },
  ): (Uint8Array | null)[];

  /**
   * Find and correct wrong symbols in place, byte position by byte position: the wrong shards may differ from
   * position to position. Missing shards (null or undefined) are ignored. With r spare shards, m less the missing
   * ones, up to r / 2 wrong symbols of a position are corrected if the code is a generalised Reed-Solomon code, as
   * most are, otherwise one: docs/repair.md lists them. More wrong symbols are detected or, if the position resembles
   * another valid stripe, corrected to that. Throws GfsmithError ETOOMANY if r is less than 2, EUNSUPPORTED if the
   * code cannot tell shards apart, as with one parity; no shard has changed then.
   */
  correct(shards: readonly (Uint8Array | null | undefined)[]): Corrected;

  /** Free the memory. May be called twice; any other call afterwards throws GfsmithError EINVAL. */
  free(): void;
}

/**
 * The tables of sketches, for codecs in the polynomial of all named codes: checksums of 8 bytes that are linear over
 * GF(2^8). The sketches of a stripe's shards are a stripe of the same code, so every shard is read once, where it is
 * stored: codec.check() compares the sketches, and codec.encode() computes those of parities. docs/checksums.md of
 * gfsmith's repository tells which errors a sketch finds. The tables hold a buffer of 256 KiB until free() is called
 * or, at the latest, until they are garbage collected.
 */
export class Sketch {
  private constructor();

  /** Bytes of a sketch. */
  static readonly BYTES: 8;

  /** Errors: GfsmithError EUNSUPPORTED if the engine cannot run the kernels; Error if the module cannot be loaded. */
  static create(options?: { kernels?: Kernels | 'auto' }): Promise<Sketch>;

  readonly kernels: Kernels;

  /**
   * Add the sketch of a piece of a shard to `sum`: 8 bytes, zeros or the sum of the pieces before, in any order.
   * `offset` is the place of the first byte in the shard. XOR adds sketches that were computed apart.
   */
  add(sum: Uint8Array, offset: number, bytes: Uint8Array): void;

  /** Free the memory. May be called twice; any other call afterwards throws GfsmithError EINVAL. */
  free(): void;
}

/** Numbers of byte positions. */
export interface Corrected {
  /** For each of the k + m shards, the positions at which it was corrected. */
  symbols: number[];
  /** Positions at which the parities match the data. */
  intact: number;
  /** Positions that could not be corrected and did not change. */
  uncorrected: number;
}

export interface Progress {
  phase: 'encode' | 'checksum' | 'rebuild';
  /** Bytes done, and total bytes, of this phase. */
  done: number;
  total: number;
}

export interface FileOptions {
  kernels?: Kernels | 'auto';
  /** Called regularly during the work. */
  onProgress?: (progress: Progress) => void;
}

export interface ReadOptions extends FileOptions {
  /**
   * The index of the shard in each file, null if unknown; default: the position in `files`. It is used only for a file
   * whose header is damaged: the other headers determine its header, and a wrong index matches none of its blocks.
   */
  indices?: readonly (number | null | undefined)[];
}

export interface SplitOptions extends CodecOptions, FileOptions {
  /** The file name stored in the shards: at most 229 bytes of UTF-8, no "/". */
  name: string;
  /** Bytes of a block, a multiple of 64 up to 1 MiB; default: 65536. */
  block?: number;
  /** A new version of the same file has a higher one; default: 1. */
  generation?: number;
  /** 16 bytes that make the set unique; default: random. */
  id?: Uint8Array;
}

/** Split a file into k + m shard files (docs/shard-format.md), data first. Each has a header and checksums of
 * all of its blocks. */
export function split(bytes: Uint8Array, options: SplitOptions): Promise<Uint8Array[]>;

/** The file name of a shard: NAME.g1.000.gfs and so on. */
export function shardName(name: string, index: number, generation?: number): string;

/** The index of a shard in the file name that shardName gives it; null if it is another name. */
export function shardIndex(name: string): number | null;

export interface ShardReport {
  index: number;
  state: 'intact' | 'damaged' | 'missing';
  /** Its index in `files`; null if missing. */
  position: number | null;
  /** The reason if it is not intact, else null. */
  reason: string | null;
}

export interface Unreadable {
  position: number;
  reason: string;
}

export interface Report {
  /** Identifies the set: the same for all of its shards. */
  id: string;
  code: string;
  k: number;
  m: number;
  /** Groups of the code "lrc", else 0. */
  l: number;
  block: number;
  generation: number;
  /** Of the original, in bytes; 0 if no trailer is intact. */
  length: number;
  name: string;
  payloadBytes: number;
  /** All k + m, by index. */
  shards: ShardReport[];
  /** Files with an unreadable header whose index is not known or is that of another file; their shards count as
   * missing. */
  unreadable: Unreadable[];
  /** Number of shards that are not intact. */
  lost: number;
  stripes: number;
  /** Number of stripes whose lost blocks the code cannot repair: for every code but "lrc", more than m. */
  lostStripes: number;
  /** No stripe is lost, and at least one trailer is intact. */
  repairable: boolean;
}

/**
 * Inspect shard files, in any order, null for missing ones; checksums determine the intact ones. Throws
 * GfsmithError EFORMAT if no header can be read, if there are shards of several sets, or one shard twice.
 */
export function inspect(files: readonly (Uint8Array | null | undefined)[], options?: ReadOptions): Promise<Report>;

export interface Repair {
  /** All k + m shard files: the intact ones as given, the others rebuilt. */
  shards: Uint8Array[];
  /** Indices of the rebuilt shards. */
  rebuilt: number[];
  /** The state before the repair. */
  report: Report;
}

/** Rebuild all shards that are not intact, block by block: every shard may be damaged. Errors: those of inspect, and
 * ETOOMANY if the code cannot repair a stripe, EFORMAT if no trailer is intact. */
export function repair(files: readonly (Uint8Array | null | undefined)[], options?: ReadOptions): Promise<Repair>;

/** The original file; lost data shards are rebuilt for it. Errors as for repair. */
export function join(
  files: readonly (Uint8Array | null | undefined)[],
  options?: ReadOptions,
): Promise<{ name: string; bytes: Uint8Array }>;
