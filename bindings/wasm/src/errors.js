// Errors of the library and of shard files; wrong arguments are TypeError or RangeError.

/** @type {Record<number, import('./index.js').ErrorCode>} */
const STATUS = {
  // begin facts: errors in JavaScript
  [-1]: 'EINVAL',
  [-2]: 'ENOMEM',
  [-3]: 'ENOTMDS',
  [-4]: 'ETOOMANY',
  [-5]: 'EUNSUPPORTED',
  [-6]: 'ESINGULAR',
  // end facts
};

/** An error of gfsmith; `code` is the status of gfsmith.h. */
export class GfsmithError extends Error {
  /**
   * @param {import('./index.js').ErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = 'GfsmithError';
    this.code = code;
  }
}

/**
 * The error of a gfsmith_status.
 * @param {number} status
 * @param {string} message
 */
export function statusError(status, message) {
  return new GfsmithError(STATUS[status] ?? 'EINVAL', message);
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 * @returns {number}
 */
export function integer(name, value, least, most) {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} = ${String(value)}: must be an integer from ${least} to ${most}`);
  }
  return value;
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {Uint8Array}
 */
export function byteArray(name, value) {
  if (!(value instanceof Uint8Array)) throw new TypeError(`${name} must be a Uint8Array`);
  return value;
}
