package org.gfsmith.hadoop;

import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/** The factory of {@code xor_gfsmith}, for the codec {@code xor}. */
public final class XorFactory extends Factory {
  /** Creates the factory. */
  public XorFactory() {
    super(ErasureCodeConstants.XOR_CODEC_NAME, Coders::xor);
  }
}
