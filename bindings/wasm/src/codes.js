// The names of the codes of gfsmith.h, aliases included, and their shapes, for messages.

/** @type {Record<string, string>} */
export const SHAPES = {
  // begin facts: shapes of codes in JavaScript
  'vandermonde': 'k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; m = 4, k <= 21; m = 5, k <= 5; m <= 21, k <= 4; k <= 3',
  'cauchy': 'k >= 1, m >= 1, k + m <= 255',
  'backblaze': 'k >= 1, m >= 1, k + m <= 255',
  'klauspost': 'k >= 1, m >= 1, k + m <= 255',
  'minio': 'k >= 1, m >= 1, k + m <= 255',
  'seaweedfs': 'k >= 1, m >= 1, k + m <= 255',
  'reed-solomon-erasure': 'k >= 1, m >= 1, k + m <= 255',
  'lch': 'k >= 1, m >= 1, k + m <= 255',
  'cauchy_orig': 'k >= 1, m >= 1, k + m <= 255',
  'cauchy_good': 'k >= 1, m >= 1, k + m <= 255',
  'plank_vandermonde': 'k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; k <= 2',
  'reed_sol_van': 'k >= 1, m >= 1, k + m <= 255',
  'reed_sol_r6_op': 'k >= 1, m = 2, k + m <= 255',
  'hdfs': 'k >= 1, m >= 1, k + m <= 255',
  'hadoop': 'k >= 1, m >= 1, k + m <= 255',
  'raid6': 'k >= 1, m = 2, k + m <= 255',
  'md': 'k >= 1, m = 2, k + m <= 255',
  'btrfs': 'k >= 1, m = 2, k + m <= 255',
  'raidz': 'k >= 1, 1 <= m <= 3, k + m <= 255',
  'zfs': 'k >= 1, 1 <= m <= 3, k + m <= 255',
  'openzfs': 'k >= 1, 1 <= m <= 3, k + m <= 255',
  'snapraid': '1 <= k <= 251, 1 <= m <= 6, k + m <= 255',
  'zfec': 'k >= 1, m >= 1, k + m <= 255',
  'tahoe-lafs': 'k >= 1, m >= 1, k + m <= 255',
  // end facts
};
