package org.apache.ozone.erasurecode.rawcoder;

import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.gfsmith.Codec;
import org.gfsmith.hadoop.Code;
import org.gfsmith.hadoop.Coders;

/** A decoder that runs a codec of gfsmith; {@link GfsmithRawEncoder} states why it is in this package. */
public final class GfsmithRawDecoder extends RawErasureDecoder {
  private final Codec codec;

  /**
   * Creates a decoder.
   *
   * @param shape the shape
   * @param code the code
   */
  public GfsmithRawDecoder(ECReplicationConfig shape, Code code) {
    super(shape);
    codec = code.codec(getNumDataUnits(), getNumParityUnits());
  }

  @Override
  protected void doDecode(ByteBufferDecodingState state) {
    Coders.decode(codec, getNumDataUnits(), state.inputs, state.erasedIndexes, state.outputs);
  }

  @Override
  protected void doDecode(ByteArrayDecodingState state) {
    Coders.decode(
        codec,
        getNumDataUnits(),
        Coders.slices(state.inputs, state.inputOffsets, state.decodeLength),
        state.erasedIndexes,
        Coders.slices(state.outputs, state.outputOffsets, state.decodeLength));
  }

  @Override
  public boolean preferDirectBuffer() {
    return true;
  }
}
