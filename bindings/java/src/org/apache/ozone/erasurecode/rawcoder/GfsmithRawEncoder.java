package org.apache.ozone.erasurecode.rawcoder;

import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.gfsmith.Codec;
import org.gfsmith.hadoop.Code;
import org.gfsmith.hadoop.Coders;

/**
 * An encoder that runs a codec of gfsmith. It is in this package because Ozone's abstract methods have
 * parameters of classes that only this package can use.
 */
public final class GfsmithRawEncoder extends RawErasureEncoder {
  private final Codec codec;

  /**
   * Creates an encoder.
   *
   * @param shape the shape
   * @param code the code
   */
  public GfsmithRawEncoder(ECReplicationConfig shape, Code code) {
    super(shape);
    try {
      codec = code.codec(getNumDataUnits(), getNumParityUnits());
    } catch (HadoopIllegalArgumentException reason) { // Ozone's decoder throws this type, its encoder the other one
      throw new IllegalArgumentException(reason.getMessage());
    }
  }

  @Override
  protected void doEncode(ByteBufferEncodingState state) {
    Coders.encode(codec, state.inputs, state.outputs);
  }

  @Override
  protected void doEncode(ByteArrayEncodingState state) {
    Coders.encode(
        codec,
        Coders.slices(state.inputs, state.inputOffsets, state.encodeLength),
        Coders.slices(state.outputs, state.outputOffsets, state.encodeLength));
  }

  @Override
  public boolean preferDirectBuffer() {
    return true;
  }
}
