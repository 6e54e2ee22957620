package org.apache.hadoop.io.erasurecode.rawcoder;

import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.gfsmith.Codec;
import org.gfsmith.hadoop.Code;
import org.gfsmith.hadoop.Coders;

/**
 * An encoder that runs a codec of gfsmith. It is in this package because Hadoop's abstract methods have
 * parameters of classes that only this package can use.
 */
public final class GfsmithRawEncoder extends RawErasureEncoder {
  private final Codec codec;

  /**
   * Creates an encoder.
   *
   * @param options the shape
   * @param code the code
   */
  public GfsmithRawEncoder(ErasureCoderOptions options, Code code) {
    super(options);
    codec = code.codec(getNumDataUnits(), getNumParityUnits());
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
