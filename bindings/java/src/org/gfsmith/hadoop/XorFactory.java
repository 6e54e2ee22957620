package org.gfsmith.hadoop;

/** The factory of {@code xor_gfsmith}, for the codec {@code xor}. */
public final class XorFactory extends Factory {
  /** Creates the factory. */
  public XorFactory() {
    super(Code.XOR);
  }
}
