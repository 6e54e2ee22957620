package org.gfsmith.hadoop;

import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/** The factory of {@code rs-legacy_gfsmith}, for the codec {@code rs-legacy}. */
public final class RsLegacyFactory extends Factory {
  /** Creates the factory. */
  public RsLegacyFactory() {
    super(ErasureCodeConstants.RS_LEGACY_CODEC_NAME, Coders::rsLegacy);
  }
}
