/**
 * Raw erasure coders for Hadoop 3.3 and 3.4, which Hadoop finds through {@link java.util.ServiceLoader}, and
 * the codes and work that they share with those for Ozone, {@link org.gfsmith.ozone}.
 *
 * <p>Coder {@code rs_gfsmith} is for the codec {@code rs}, {@code rs-legacy_gfsmith} for {@code
 * rs-legacy}, {@code xor_gfsmith} for {@code xor}. All bytes equal those of Hadoop's own coders.
 */
package org.gfsmith.hadoop;
