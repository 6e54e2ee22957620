package org.apache.hadoop.io.erasurecode.rawcoder;

import java.nio.ByteBuffer;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.gfsmith.Codec;
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
   * @param codec a codec of this shape; null if it has no data or no parity units
   */
  public GfsmithRawEncoder(ErasureCoderOptions options, Codec codec) {
    super(options);
    this.codec = codec;
  }

  @Override
  protected void doEncode(ByteBufferEncodingState state) {
    encodeUnits(state.inputs, state.outputs);
  }

  @Override
  protected void doEncode(ByteArrayEncodingState state) {
    ByteBuffer[] inputs = Slices.of(state.inputs, state.inputOffsets, state.encodeLength);
    ByteBuffer[] outputs = Slices.of(state.outputs, state.outputOffsets, state.encodeLength);
    encodeUnits(inputs, outputs);
  }

  private void encodeUnits(ByteBuffer[] inputs, ByteBuffer[] outputs) {
    if (codec != null) {
      Coders.count();
      codec.encode(inputs, outputs);
    }
  }

  @Override
  public boolean preferDirectBuffer() {
    return true;
  }
}
