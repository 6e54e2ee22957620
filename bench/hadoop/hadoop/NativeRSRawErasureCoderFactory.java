package org.apache.hadoop.io.erasurecode.rawcoder;

import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.gfsmith.hadoop.RsFactory;

/**
 * Coder 3 of Hadoop's RawErasureCoderBenchmark, whose list of coders is fixed: this class precedes Hadoop's
 * class of the same name, for a native library that these machines do not have, on the class path.
 */
public final class NativeRSRawErasureCoderFactory implements RawErasureCoderFactory {
  private final RawErasureCoderFactory gfsmith = new RsFactory();

  @Override
  public RawErasureEncoder createEncoder(ErasureCoderOptions options) {
    return gfsmith.createEncoder(options);
  }

  @Override
  public RawErasureDecoder createDecoder(ErasureCoderOptions options) {
    return gfsmith.createDecoder(options);
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
