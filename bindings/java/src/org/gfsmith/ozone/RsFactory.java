package org.gfsmith.ozone;

import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.apache.ozone.erasurecode.rawcoder.GfsmithRawDecoder;
import org.apache.ozone.erasurecode.rawcoder.GfsmithRawEncoder;
import org.apache.ozone.erasurecode.rawcoder.NativeRSRawErasureCoderFactory;
import org.apache.ozone.erasurecode.rawcoder.RawErasureDecoder;
import org.apache.ozone.erasurecode.rawcoder.RawErasureEncoder;
import org.gfsmith.hadoop.Code;

/** The factory of {@code rs_gfsmith}, for the codec {@code rs}; the package states why it extends Ozone's factory. */
public final class RsFactory extends NativeRSRawErasureCoderFactory {
  /** Creates the factory. */
  public RsFactory() {}

  @Override
  public RawErasureEncoder createEncoder(ECReplicationConfig shape) {
    return new GfsmithRawEncoder(shape, Code.RS);
  }

  @Override
  public RawErasureDecoder createDecoder(ECReplicationConfig shape) {
    return new GfsmithRawDecoder(shape, Code.RS);
  }

  @Override
  public String getCoderName() {
    return Code.RS.coderName();
  }
}
