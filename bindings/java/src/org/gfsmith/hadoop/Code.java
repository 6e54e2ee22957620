package org.gfsmith.hadoop;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;
import org.gfsmith.Codec;

/** The codes of Hadoop and Ozone, by the names of their codecs. */
public enum Code {
  /** The code {@code rs}: c[i][j] = 1 / ((k + i) xor j). */
  RS(ErasureCodeConstants.RS_CODEC_NAME) {
    @Override
    Codec make(int k, int m) {
      return Codec.create("hdfs", k, m);
    }
  },
  /**
   * The code {@code rs-legacy}: parity i is the coefficient of x^i in x^m d(x) mod g(x), where
   * d(x) = sum of data[j] x^j and g(x) = product of (x + 2^i) over i &lt; m. So column j of the matrix is
   * x^(m + j) mod g(x).
   */
  RS_LEGACY(ErasureCodeConstants.RS_LEGACY_CODEC_NAME) {
    @Override
    Codec make(int k, int m) {
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
  },
  /** The code {@code xor}: the first parity is the sum of the data; the originals set others to zero. */
  XOR(ErasureCodeConstants.XOR_CODEC_NAME) {
    @Override
    Codec make(int k, int m) {
      byte[] parity = new byte[k * m];
      Arrays.fill(parity, 0, k, (byte) 1);
      return Codec.create(POLYNOMIAL, k, m, parity);
    }
  };

  private static final int POLYNOMIAL = 0x11d;
  private static final ConcurrentMap<Shape, Codec> CODECS = new ConcurrentHashMap<>();

  private record Shape(Code code, int k, int m) {}

  private final String codecName;

  Code(String codecName) {
    this.codecName = codecName;
  }

  abstract Codec make(int k, int m);

  /**
   * Returns the name of the codec.
   *
   * @return the name, as in policies
   */
  public String codecName() {
    return codecName;
  }

  /**
   * Returns the name of gfsmith's raw coder for this code.
   *
   * @return the name, as in configurations
   */
  public String coderName() {
    return codecName + "_gfsmith";
  }

  /**
   * Returns the codec of a shape; all coders of the shape in this process share it and its repairs.
   *
   * @param k number of data units
   * @param m number of parity units
   * @return the codec; null without data or without parities, where coders have nothing to compute
   * @throws HadoopIllegalArgumentException if the code has no such shape
   */
  public Codec codec(int k, int m) {
    if (k == 0 || m == 0) {
      return null;
    }
    try {
      return CODECS.computeIfAbsent(new Shape(this, k, m), shape -> make(k, m));
    } catch (IllegalArgumentException reason) {
      throw new HadoopIllegalArgumentException(
          "Invalid numDataUnits and numParityUnits: " + reason.getMessage());
    }
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
    return Arrays.copyOf(product, m);
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
}
