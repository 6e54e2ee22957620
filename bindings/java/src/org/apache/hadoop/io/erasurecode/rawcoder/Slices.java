package org.apache.hadoop.io.erasurecode.rawcoder;

import java.nio.ByteBuffer;

/** Parts of arrays as buffers. */
final class Slices {
  private Slices() {}

  static ByteBuffer[] of(byte[][] arrays, int[] offsets, int length) {
    ByteBuffer[] slices = new ByteBuffer[arrays.length];
    for (int i = 0; i < arrays.length; i++) {
      slices[i] = arrays[i] == null ? null : ByteBuffer.wrap(arrays[i], offsets[i], length);
    }
    return slices;
  }
}
