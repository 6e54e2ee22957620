package org.gfsmith.hadoop;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.gfsmith.Codec;

/** The codecs of all coders in this process, and the number of their calls. */
public final class Coders {
  private static final int POLYNOMIAL = 0x11d;

  private static final LongAdder CALLS = new LongAdder();
  private static final ConcurrentMap<Shape, Codec> CODECS = new ConcurrentHashMap<>();

  private record Shape(String coder, int k, int m) {}

  /** Creates the codec of a shape. */
  interface Maker {
    Codec make(int k, int m);
  }

  private Coders() {}

  /** Returns the codec of a coder and shape; all coders of the shape share it and its repairs. */
  static Codec codec(String coder, int k, int m, Maker maker) {
    return CODECS.computeIfAbsent(new Shape(coder, k, m), shape -> maker.make(k, m));
  }

  /**
   * Returns how often these coders have encoded or decoded in this process. A program can check with it
   * that Hadoop really uses them.
   *
   * @return calls since the start of the process
   */
  public static long calls() {
    return CALLS.sum();
  }

  /** Counts a call. */
  public static void count() {
    CALLS.increment();
  }

  /** The code of {@code rs}: c[i][j] = 1 / ((k + i) xor j). */
  static Codec rs(int k, int m) {
    return Codec.create("hdfs", k, m);
  }

  /**
   * The code of {@code rs-legacy}: parity i is the coefficient of x^i in x^m d(x) mod g(x), where
   * d(x) = sum of data[j] x^j and g(x) = product of (x + 2^i) over i &lt; m. So column j of the matrix is
   * x^(m + j) mod g(x).
   */
  static Codec rsLegacy(int k, int m) {
    byte[] parity = new byte[k * m];
    int[] generator = generator(m);
    int[] remainder = generator.clone(); // x^m mod g(x), without the term x^m
    for (int j = 0; j < k; j++) {
      for (int i = 0; i < m; i++) {
        parity[i * k + j] = (byte) remainder[i];
      }
      multiplyByX(remainder, generator);
    }
    return Codec.create(POLYNOMIAL, k, m, parity);
  }

  /** Returns the coefficients of x^0 to x^(m - 1) of g(x); that of x^m is 1. */
  private static int[] generator(int m) {
    int[] product = new int[m + 1];
    product[0] = 1;
    int root = 1;
    for (int degree = 0; degree < m; degree++) {
      for (int i = degree + 1; i >= 0; i--) {
        product[i] = multiply(product[i], root) ^ (i > 0 ? product[i - 1] : 0);
      }
      root = multiply(root, 2);
    }
    return java.util.Arrays.copyOf(product, m);
  }

  private static void multiplyByX(int[] remainder, int[] generator) {
    int m = remainder.length;
    int top = remainder[m - 1];
    for (int i = m - 1; i >= 0; i--) {
      remainder[i] = multiply(top, generator[i]) ^ (i > 0 ? remainder[i - 1] : 0);
    }
  }

  private static int multiply(int a, int b) {
    int product = 0;
    for (int factor = a; b != 0; b >>= 1) {
      product ^= (b & 1) * factor;
      factor = (factor << 1) ^ (factor >> 7) * POLYNOMIAL;
    }
    return product;
  }

  /** The code of {@code xor}: the first parity is the sum of the data; Hadoop sets others to zero. */
  static Codec xor(int k, int m) {
    byte[] parity = new byte[k * m];
    java.util.Arrays.fill(parity, 0, k, (byte) 1);
    return Codec.create(POLYNOMIAL, k, m, parity);
  }
}
