package org.gfsmith.hadoop;

/** The factory of {@code rs_gfsmith}, for the codec {@code rs}. */
public final class RsFactory extends Factory {
  /** Creates the factory. */
  public RsFactory() {
    super(Code.RS);
  }
}
