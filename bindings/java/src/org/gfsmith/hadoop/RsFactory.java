package org.gfsmith.hadoop;

import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/** The factory of {@code rs_gfsmith}, for the codec {@code rs}. */
public final class RsFactory extends Factory {
  /** Creates the factory. */
  public RsFactory() {
    super(ErasureCodeConstants.RS_CODEC_NAME, Coders::rs);
  }
}
