package org.gfsmith.hadoop;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.gfsmith.Codec;

/** The work of all coders in this process, for Hadoop and Ozone, and the number of their calls. */
public final class Coders {
  private static final LongAdder CALLS = new LongAdder();

  private Coders() {}

  /**
   * Returns how often these coders have encoded or decoded in this process. A program can check with it
   * that Hadoop or Ozone really uses them.
   *
   * @return calls since the start of the process
   */
  public static long calls() {
    return CALLS.sum();
  }

  /**
   * Returns parts of arrays as buffers.
   *
   * @param arrays the arrays; null remains null
   * @param offsets where each part begins
   * @param length of each part, in bytes
   * @return the buffers
   */
  public static ByteBuffer[] slices(byte[][] arrays, int[] offsets, int length) {
    ByteBuffer[] slices = new ByteBuffer[arrays.length];
    for (int i = 0; i < arrays.length; i++) {
      slices[i] = arrays[i] == null ? null : ByteBuffer.wrap(arrays[i], offsets[i], length);
    }
    return slices;
  }

  /**
   * Encodes.
   *
   * @param codec null if there are no parities to compute
   * @param inputs the data units
   * @param outputs the parity units
   */
  public static void encode(Codec codec, ByteBuffer[] inputs, ByteBuffer[] outputs) {
    if (codec != null) {
      CALLS.increment();
      codec.encode(inputs, outputs);
    }
  }

  /**
   * Computes erased units. Inputs at erased indexes are not read, whether they are null or not.
   *
   * @param codec null if there are no units to compute
   * @param k number of data units
   * @param inputs all units, null where missing
   * @param erased indexes of the wanted units
   * @param outputs the wanted units
   * @throws HadoopIllegalArgumentException for wrong indexes or too few inputs
   */
  public static void decode(Codec codec, int k, ByteBuffer[] inputs, int[] erased, ByteBuffer[] outputs) {
    ByteBuffer[] units = inputs.clone();
    boolean[] wanted = wanted(erased, units.length);
    for (int n = 0; n < erased.length; n++) {
      units[erased[n]] = outputs[n];
    }
    boolean[] present = new boolean[units.length];
    int valid = 0;
    for (int i = 0; i < units.length; i++) {
      present[i] = units[i] != null && !wanted[i];
      valid += present[i] ? 1 : 0;
    }
    if (valid < k) {
      throw new HadoopIllegalArgumentException("No enough valid inputs are provided, not recoverable");
    }
    if (codec != null) {
      CALLS.increment();
      reconstruct(codec, units, present, wanted);
    }
  }

  private static boolean[] wanted(int[] erased, int units) {
    boolean[] wanted = new boolean[units];
    for (int index : erased) {
      if (index < 0 || index >= units) {
        throw new HadoopIllegalArgumentException("Erased index " + index + ", allowed: 0 to " + (units - 1));
      }
      if (wanted[index]) {
        throw new HadoopIllegalArgumentException("Erased index " + index + " occurs twice");
      }
      wanted[index] = true;
    }
    return wanted;
  }

  private static void reconstruct(Codec codec, ByteBuffer[] units, boolean[] present, boolean[] wanted) {
    try {
      codec.reconstruct(units, present, wanted);
    } catch (IllegalArgumentException reason) {
      throw new HadoopIllegalArgumentException(reason.getMessage());
    }
  }
}
