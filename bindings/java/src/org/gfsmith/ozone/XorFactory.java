package org.gfsmith.ozone;

import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.apache.ozone.erasurecode.rawcoder.GfsmithRawDecoder;
import org.apache.ozone.erasurecode.rawcoder.GfsmithRawEncoder;
import org.apache.ozone.erasurecode.rawcoder.NativeXORRawErasureCoderFactory;
import org.apache.ozone.erasurecode.rawcoder.RawErasureDecoder;
import org.apache.ozone.erasurecode.rawcoder.RawErasureEncoder;
import org.gfsmith.hadoop.Code;

/** The factory of {@code xor_gfsmith}, for the codec {@code xor}; the package states why it extends Ozone's factory. */
public final class XorFactory extends NativeXORRawErasureCoderFactory {
  /** Creates the factory. */
  public XorFactory() {}

  @Override
  public RawErasureEncoder createEncoder(ECReplicationConfig shape) {
    return new GfsmithRawEncoder(shape, Code.XOR);
  }

  @Override
  public RawErasureDecoder createDecoder(ECReplicationConfig shape) {
    return new GfsmithRawDecoder(shape, Code.XOR);
  }

  @Override
  public String getCoderName() {
    return Code.XOR.coderName();
  }
}
