package org.gfsmith;

import java.util.LinkedHashMap;
import java.util.Map;

/** The names of the codes of gfsmith.h, aliases included, and their shapes, for messages. */
final class Codes {
  private static final Map<String, String> SHAPES = new LinkedHashMap<>();

  static {
    // begin facts: shapes of codes in Java
    SHAPES.put("vandermonde", "k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; m = 4, k <= 21; m = 5, k <= 5; m <= 21, k <= 4; k <= 3");
    SHAPES.put("cauchy", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("backblaze", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("klauspost", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("minio", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("seaweedfs", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("reed-solomon-erasure", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("lch", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("cauchy_orig", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("cauchy_good", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("plank_vandermonde", "k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; k <= 2");
    SHAPES.put("reed_sol_van", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("reed_sol_r6_op", "k >= 1, m = 2, k + m <= 255");
    SHAPES.put("hdfs", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("hadoop", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("raid6", "k >= 1, m = 2, k + m <= 255");
    SHAPES.put("md", "k >= 1, m = 2, k + m <= 255");
    SHAPES.put("btrfs", "k >= 1, m = 2, k + m <= 255");
    SHAPES.put("raidz", "k >= 1, 1 <= m <= 3, k + m <= 255");
    SHAPES.put("zfs", "k >= 1, 1 <= m <= 3, k + m <= 255");
    SHAPES.put("openzfs", "k >= 1, 1 <= m <= 3, k + m <= 255");
    SHAPES.put("snapraid", "1 <= k <= 251, 1 <= m <= 6, k + m <= 255");
    SHAPES.put("zfec", "k >= 1, m >= 1, k + m <= 255");
    SHAPES.put("tahoe-lafs", "k >= 1, m >= 1, k + m <= 255");
    // end facts
  }

  private Codes() {}

  /** Returns why the library has no codec for this name and shape. */
  static String refusal(String code, int k, int m) {
    String shapes = SHAPES.get(code);
    return shapes == null
        ? "unknown code '" + code + "'; allowed: " + String.join(", ", SHAPES.keySet())
        : "code '" + code + "' with " + k + " + " + m + " shards; allowed: " + shapes;
  }
}
