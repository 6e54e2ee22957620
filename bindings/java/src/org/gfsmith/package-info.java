/**
 * Erasure coding over GF(2^8) with generated, proved kernels.
 *
 * <p>{@link org.gfsmith.Codec} has all operations. It needs Java 17 and Linux on x86-64 or AArch64;
 * the archive contains the native library, which {@link org.gfsmith.Codec} loads at its first use.
 * The system property {@code org.gfsmith.library} names another file to load instead.
 */
package org.gfsmith;
