package org.gfsmith.hadoop;

/** The factory of {@code rs-legacy_gfsmith}, for the codec {@code rs-legacy}. */
public final class RsLegacyFactory extends Factory {
  /** Creates the factory. */
  public RsLegacyFactory() {
    super(Code.RS_LEGACY);
  }
}
