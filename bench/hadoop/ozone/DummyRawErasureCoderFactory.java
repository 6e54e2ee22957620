package org.apache.ozone.erasurecode.rawcoder;

import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.gfsmith.ozone.RsFactory;

/**
 * Coder 0 of Ozone's RawErasureCoderBenchmark, whose list of coders is fixed: this class precedes Ozone's
 * class of the same name, for a coder that does nothing, on the class path.
 */
public final class DummyRawErasureCoderFactory implements RawErasureCoderFactory {
  private final RawErasureCoderFactory gfsmith = new RsFactory();

  @Override
  public RawErasureEncoder createEncoder(ECReplicationConfig shape) {
    return gfsmith.createEncoder(shape);
  }

  @Override
  public RawErasureDecoder createDecoder(ECReplicationConfig shape) {
    return gfsmith.createDecoder(shape);
  }

  @Override
  public String getCoderName() {
    return gfsmith.getCoderName();
  }

  @Override
  public String getCodecName() {
    return gfsmith.getCodecName();
  }
}
