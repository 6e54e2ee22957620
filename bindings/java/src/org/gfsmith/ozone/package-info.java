/**
 * Raw erasure coders for Ozone 1.4, which Ozone finds through {@link java.util.ServiceLoader}: {@code
 * rs_gfsmith} and {@code xor_gfsmith}. All bytes equal those of Ozone's own coders.
 *
 * <p>Ozone has no configuration that names a coder: it takes the first one of its list that works. Its list
 * has factories of its native coders and of classes derived from them before those in Java, so these are
 * derived from them; nothing else of them is used.
 */
package org.gfsmith.ozone;
