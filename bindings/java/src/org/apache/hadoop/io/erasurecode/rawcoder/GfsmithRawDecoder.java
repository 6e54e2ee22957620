package org.apache.hadoop.io.erasurecode.rawcoder;

import java.nio.ByteBuffer;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.gfsmith.Codec;
import org.gfsmith.hadoop.Coders;

/** A decoder that runs a codec of gfsmith; {@link GfsmithRawEncoder} states why it is in this package. */
public final class GfsmithRawDecoder extends RawErasureDecoder {
  private final Codec codec;

  /**
   * Creates a decoder.
   *
   * @param options the shape
   * @param codec a codec of this shape; null if it has no data or no parity units
   */
  public GfsmithRawDecoder(ErasureCoderOptions options, Codec codec) {
    super(options);
    this.codec = codec;
  }

  @Override
  protected void doDecode(ByteBufferDecodingState state) {
    decodeUnits(state.inputs, state.erasedIndexes, state.outputs);
  }

  @Override
  protected void doDecode(ByteArrayDecodingState state) {
    ByteBuffer[] inputs = Slices.of(state.inputs, state.inputOffsets, state.decodeLength);
    ByteBuffer[] outputs = Slices.of(state.outputs, state.outputOffsets, state.decodeLength);
    decodeUnits(inputs, state.erasedIndexes, outputs);
  }

  /** Inputs at erased indexes are not read, whether they are null or not. */
  private void decodeUnits(ByteBuffer[] inputs, int[] erased, ByteBuffer[] outputs) {
    ByteBuffer[] units = inputs.clone();
    boolean[] wanted = wanted(erased);
    for (int n = 0; n < erased.length; n++) {
      units[erased[n]] = outputs[n];
    }
    boolean[] present = new boolean[units.length];
    int valid = 0;
    for (int i = 0; i < units.length; i++) {
      present[i] = units[i] != null && !wanted[i];
      valid += present[i] ? 1 : 0;
    }
    if (valid < getNumDataUnits()) {
      throw new HadoopIllegalArgumentException("No enough valid inputs are provided, not recoverable");
    }
    if (codec != null) {
      Coders.count();
      reconstruct(units, present, wanted);
    }
  }

  private boolean[] wanted(int[] erased) {
    boolean[] wanted = new boolean[getNumAllUnits()];
    for (int index : erased) {
      if (index < 0 || index >= wanted.length) {
        throw new HadoopIllegalArgumentException(
            "Erased index " + index + ", allowed: 0 to " + (wanted.length - 1));
      }
      if (wanted[index]) {
        throw new HadoopIllegalArgumentException("Erased index " + index + " occurs twice");
      }
      wanted[index] = true;
    }
    return wanted;
  }

  private void reconstruct(ByteBuffer[] units, boolean[] present, boolean[] wanted) {
    try {
      codec.reconstruct(units, present, wanted);
    } catch (IllegalArgumentException reason) {
      throw new HadoopIllegalArgumentException(reason.getMessage());
    }
  }

  @Override
  public boolean preferDirectBuffer() {
    return true;
  }
}
