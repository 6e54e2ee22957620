package org.gfsmith;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * An erasure code over GF(2^8): k data shards and m parity shards of the same length.
 *
 * <p>Bytes are elements of GF(2^8) = GF(2)[x] / (p(x)), addition is XOR, and the parity matrix c has m
 * rows of k elements. For every position b of a shard and every i &lt; m,
 *
 * <pre>   parity[i][b] = sum over j &lt; k of c[i][j] * data[j][b]</pre>
 *
 * <p>A "shard" with an index counts the k data shards first and the m parity shards after them.
 *
 * <p>Shards are byte arrays, used as a whole, or ByteBuffers, direct or not, used from their position to
 * their limit; no call changes positions or limits. A call may mix direct and other buffers. All shards
 * of a call have the same length in bytes, any length, at any alignment. Shards that a call writes must
 * not overlap other shards of the call; this is checked for shards in one array or in one direct buffer
 * object, but not for slices and duplicates of a direct buffer.
 *
 * <p>Errors: an {@link IllegalArgumentException} with one line for a null array or shard, an array with a
 * wrong number of shards, shards of different lengths, a read-only buffer that would be written, shards that
 * overlap as stated above, and for the reasons stated with a method; an {@link OutOfMemoryError} if memory is exhausted; for a direct
 * buffer of a closed {@code Arena}, or of one of another thread, the exception of the buffer's own
 * {@code get}. No shard is written then, except that an {@code OutOfMemoryError} may leave the outputs
 * partly written. An {@code Arena} must not be closed during a call with its buffers.
 *
 * <p>Arrays and buffers on the heap are not copied: the garbage collector may wait for up to 256 KiB of
 * each shard. Calls with direct buffers only never delay it.
 *
 * <p>A codec is immutable, and any number of threads may use one at once. Create one for a code and
 * shape and keep it. Its native memory is freed after the codec has become unreachable.
 */
public final class Codec {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int MOST_SHARDS = 255;

  private final long address;
  private final int k;
  private final int m;

  private Codec(long address, int k, int m) {
    this.address = address;
    this.k = k;
    this.m = m;
    CLEANER.register(this, () -> Native.destroy(address));
  }

  /**
   * Creates a codec for a code known by its name, over p = x^8 + x^4 + x^3 + x^2 + 1 (0x11d).
   *
   * @param code a name of the C library, for example {@code cauchy} (ISA-L, HDFS) or {@code backblaze}
   *     (klauspost/reedsolomon, MinIO); docs/codes.md lists them with their matrices
   * @param k number of data shards, from 1
   * @param m number of parity shards, from 1; k + m is at most 255
   * @return the codec
   * @throws IllegalArgumentException if the name is unknown, or the code does not have the shape
   */
  public static Codec create(String code, int k, int m) {
    if (code == null) {
      throw new IllegalArgumentException("code is null");
    }
    requireShape(k, m);
    return of(Native.create(code, k, m), Codes.refusal(code, k, m), k, m);
  }

  /**
   * Creates a codec for any parity matrix.
   *
   * @param polynomial p with its x^8 term, bit n being the coefficient of x^n: 0x11d, for example; it
   *     must be irreducible
   * @param k number of data shards, from 1
   * @param m number of parity shards, from 1; k + m is at most 255
   * @param parity m rows of k elements, c[i][j] = parity[i * k + j]; it is copied
   * @return the codec
   * @throws IllegalArgumentException if the polynomial is not irreducible of degree 8, or the matrix does
   *     not have k * m elements
   */
  public static Codec create(int polynomial, int k, int m, byte[] parity) {
    requireShape(k, m);
    if (parity == null || parity.length != k * m) {
      throw new IllegalArgumentException(
          "parity has " + (parity == null ? "no" : parity.length) + " elements; required: " + k * m);
    }
    return of(Native.createMatrix(polynomial, k, m, parity), refusal(polynomial), k, m);
  }

  /** Returns the reason why a polynomial is invalid. */
  static String refusal(int polynomial) {
    return "polynomial 0x" + Integer.toHexString(polynomial) + "; required: irreducible, of degree 8";
  }

  private static void requireShape(int k, int m) {
    if (k < 1 || m < 1 || k > MOST_SHARDS - m) {
      throw new IllegalArgumentException(
          k + " + " + m + " shards; allowed: at least 1 of each, at most " + MOST_SHARDS + " together");
    }
  }

  private static Codec of(long address, String invalid, int k, int m) {
    if (address == Native.EINVAL) {
      throw new IllegalArgumentException(invalid);
    }
    if (address < 0) {
      throw failure((int) address, k, m);
    }
    return new Codec(address, k, m);
  }

  private static RuntimeException failure(int status, int k, int m) {
    if (status == Native.ENOMEM) {
      throw new OutOfMemoryError("gfsmith: " + Native.message(status));
    }
    return new IllegalArgumentException(k + " + " + m + " shards: " + Native.message(status));
  }

  /**
   * Returns the name of the instruction set of codecs created from now on, such as {@code avx2}. The
   * environment variable {@code GFSMITH_ISA} can choose another one that this CPU supports.
   *
   * @return the name
   */
  public static String isa() {
    return Native.isa();
  }

  /**
   * Returns the version of the native library.
   *
   * @return MAJOR.MINOR.PATCH
   */
  public static String version() {
    return Native.version();
  }

  /**
   * Returns the number of data shards.
   *
   * @return k
   */
  public int dataShards() {
    return k;
  }

  /**
   * Returns the number of parity shards.
   *
   * @return m
   */
  public int parityShards() {
    return m;
  }

  /**
   * Computes all parities: parity[i] = sum over j of c[i][j] * data[j].
   *
   * @param data k shards, read
   * @param parity m shards, overwritten
   */
  public void encode(byte[][] data, byte[][] parity) {
    encodeAll(data, parity);
  }

  /**
   * Computes all parities, as {@link #encode(byte[][], byte[][])}.
   *
   * @param data k shards, read
   * @param parity m shards, overwritten
   */
  public void encode(ByteBuffer[] data, ByteBuffer[] parity) {
    encodeAll(data, parity);
  }

  /**
   * Brings the parities up to date after one data shard changed: parity[i] += c[i][index] * delta.
   *
   * @param index the data shard that changed, from 0, less than k
   * @param delta the old contents of the data shard XOR the new ones, read
   * @param parity m shards, read and written
   * @throws IllegalArgumentException also if index is not a data shard
   */
  public void update(int index, byte[] delta, byte[][] parity) {
    updateAll(index, delta, parity);
  }

  /**
   * Brings the parities up to date, as {@link #update(int, byte[], byte[][])}.
   *
   * @param index the data shard that changed, from 0, less than k
   * @param delta the old contents of the data shard XOR the new ones, read
   * @param parity m shards, read and written
   * @throws IllegalArgumentException also if index is not a data shard
   */
  public void update(int index, ByteBuffer delta, ByteBuffer[] parity) {
    updateAll(index, delta, parity);
  }

  /**
   * Rebuilds all missing shards from the present ones. The first repair of a loss inverts a matrix; the
   * codec keeps the result.
   *
   * @param shards k + m shards: present ones are read, missing ones are overwritten
   * @param present k + m flags, whether a shard has its contents
   * @throws IllegalArgumentException also if more than m shards are missing, or the present shards do not
   *     determine a missing one (possible only with a code that is not MDS)
   */
  public void reconstruct(byte[][] shards, boolean[] present) {
    reconstruct(shards, present, null);
  }

  /**
   * Rebuilds the wanted shards from the present ones, as {@link #reconstruct(byte[][], boolean[])}.
   *
   * @param shards k + m shards; one that is neither present nor wanted may be null
   * @param present k + m flags, whether a shard has its contents
   * @param wanted k + m flags, whether to rebuild a missing shard; null: all missing ones
   * @throws IllegalArgumentException also if more than m shards are missing, wanted or not, or the
   *     present shards do not determine a wanted one
   */
  public void reconstruct(byte[][] shards, boolean[] present, boolean[] wanted) {
    reconstructAll(shards, present, wanted);
  }

  /**
   * Rebuilds all missing shards, as {@link #reconstruct(byte[][], boolean[])}.
   *
   * @param shards k + m shards: present ones are read, missing ones are overwritten
   * @param present k + m flags, whether a shard has its contents
   * @throws IllegalArgumentException also if more than m shards are missing, or the present shards do not
   *     determine a missing one
   */
  public void reconstruct(ByteBuffer[] shards, boolean[] present) {
    reconstruct(shards, present, null);
  }

  /**
   * Rebuilds the wanted shards, as {@link #reconstruct(byte[][], boolean[], boolean[])}.
   *
   * @param shards k + m shards; one that is neither present nor wanted may be null
   * @param present k + m flags, whether a shard has its contents
   * @param wanted k + m flags, whether to rebuild a missing shard; null: all missing ones
   * @throws IllegalArgumentException also if more than m shards are missing, wanted or not, or the
   *     present shards do not determine a wanted one
   */
  public void reconstruct(ByteBuffer[] shards, boolean[] present, boolean[] wanted) {
    reconstructAll(shards, present, wanted);
  }

  /**
   * Returns whether the parities match the data: parity[i] = sum over j of c[i][j] * data[j] for all i.
   * It stops at the first part that differs.
   *
   * @param shards k + m shards, read
   * @return true if they match
   */
  public boolean check(byte[][] shards) {
    return checkAll(shards);
  }

  /**
   * Returns whether the parities match the data, as {@link #check(byte[][])}.
   *
   * @param shards k + m shards, read
   * @return true if they match
   */
  public boolean check(ByteBuffer[] shards) {
    return checkAll(shards);
  }

  /**
   * Computes all parities, and the checksums of all shards in the same pass over memory.
   *
   * @param kind the checksum
   * @param data k shards, read
   * @param parity m shards, overwritten
   * @param states k + m numbers: 0, or the checksum of the shard's bytes before; replaced by that of all of its bytes
   * @throws IllegalArgumentException also if a state has more bits than the checksum, or CRC16_T10 does not allow
   *     the length
   */
  public void encodeChecksums(Checksum kind, byte[][] data, byte[][] parity, long[] states) {
    encodeAll(kind, data, parity, states);
  }

  /**
   * Rebuilds the wanted shards, and computes the checksums of those that the repair reads or writes, in one pass
   * over memory.
   *
   * <p>If a flag of the result is true, all rebuilt shards are wrong. Then repeat the call with that shard missing, and
   * with the states of before.
   *
   * @param kind the checksum
   * @param shards k + m shards; one that is neither present nor wanted may be null
   * @param present k + m flags, whether a shard has its contents
   * @param wanted k + m flags, whether to rebuild a missing shard; null: all missing ones
   * @param states as in {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}; those of other shards do not
   *     change
   * @param expected k + m checksums that the shards which the repair reads must have after the call; null: nothing is
   *     compared
   * @return k + m flags: the repair read the shard, and its checksum is not the expected one
   * @throws IllegalArgumentException also for the reasons of {@link #reconstruct(byte[][], boolean[], boolean[])} and
   *     {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}
   */
  public boolean[] reconstructChecksums(
      Checksum kind, byte[][] shards, boolean[] present, boolean[] wanted, long[] states, long[] expected) {
    return reconstructAll(kind, shards, present, wanted, states, expected);
  }

  /**
   * Returns whether the parities match the data, and computes the checksums of all shards: a scrub that reads every
   * byte once.
   *
   * @param kind the checksum
   * @param shards k + m shards, read
   * @param states as in {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}
   * @return true if they match
   * @throws IllegalArgumentException also for the reasons of
   *     {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}
   */
  public boolean checkChecksums(Checksum kind, byte[][] shards, long[] states) {
    return checkAll(kind, shards, states);
  }

  /**
   * Computes all parities and checksums, as {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}.
   *
   * @param kind the checksum
   * @param data k shards, read
   * @param parity m shards, overwritten
   * @param states k + m numbers, replaced by the checksums
   */
  public void encodeChecksums(Checksum kind, ByteBuffer[] data, ByteBuffer[] parity, long[] states) {
    encodeAll(kind, data, parity, states);
  }

  /**
   * Rebuilds the wanted shards and computes checksums, as
   * {@link #reconstructChecksums(Checksum, byte[][], boolean[], boolean[], long[], long[])}.
   *
   * @param kind the checksum
   * @param shards k + m shards; one that is neither present nor wanted may be null
   * @param present k + m flags, whether a shard has its contents
   * @param wanted k + m flags, whether to rebuild a missing shard; null: all missing ones
   * @param states k + m numbers, replaced by the checksums of the shards that the repair reads or writes
   * @param expected k + m checksums, or null
   * @return k + m flags: the repair read the shard, and its checksum is not the expected one
   */
  public boolean[] reconstructChecksums(
      Checksum kind, ByteBuffer[] shards, boolean[] present, boolean[] wanted, long[] states, long[] expected) {
    return reconstructAll(kind, shards, present, wanted, states, expected);
  }

  /**
   * Returns whether the parities match the data, and computes checksums, as
   * {@link #checkChecksums(Checksum, byte[][], long[])}.
   *
   * @param kind the checksum
   * @param shards k + m shards, read
   * @param states k + m numbers, replaced by the checksums
   * @return true if they match
   */
  public boolean checkChecksums(Checksum kind, ByteBuffer[] shards, long[] states) {
    return checkAll(kind, shards, states);
  }

  /**
   * Computes all parities of many stripes, and the checksums of all shards in the same pass over memory. Stripes in
   * memory are prefetched.
   *
   * @param kind the checksum
   * @param data k shards of the first stripe, then those of the next one, and so on, read; all of the same length
   * @param parity m shards of each stripe, overwritten
   * @param states k + m numbers of each stripe, as in {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}
   * @throws IllegalArgumentException also for the reasons of
   *     {@link #encodeChecksums(Checksum, byte[][], byte[][], long[])}
   */
  public void encodeStripesChecksums(Checksum kind, byte[][] data, byte[][] parity, long[] states) {
    encodeStripes(kind, data, parity, states);
  }

  /**
   * Computes all parities and checksums of many stripes, as
   * {@link #encodeStripesChecksums(Checksum, byte[][], byte[][], long[])}.
   *
   * @param kind the checksum
   * @param data k shards of each stripe, read
   * @param parity m shards of each stripe, overwritten
   * @param states k + m numbers of each stripe, replaced by the checksums
   */
  public void encodeStripesChecksums(Checksum kind, ByteBuffer[] data, ByteBuffer[] parity, long[] states) {
    encodeStripes(kind, data, parity, states);
  }

  // The elements are all byte[] or all ByteBuffer.
  private void encodeAll(Object[] data, Object[] parity) {
    run(Native.ENCODE, 0, k, encoding(data, parity));
  }

  private void encodeAll(Checksum kind, Object[] data, Object[] parity, long[] states) {
    run(Native.ENCODE, encoding(data, parity), kind, states, null, null);
  }

  private void encodeStripes(Checksum kind, Object[] data, Object[] parity, long[] states) {
    if (data == null || data.length % k != 0) {
      throw new IllegalArgumentException(
          "data" + (data == null ? " is null" : " has " + data.length + " shards") + "; required: a multiple of " + k);
    }
    int stripes = data.length / k;
    requireCount(parity, "parity", (long) stripes * m);
    Shards[] calls = calls(data, parity, stripes);
    requireChecksums(kind, states, "states", (long) stripes * (k + m));
    if (stripes > 0) {
      kind.requireLength(calls[0].length());
    }
    int first = 0;
    for (Shards shards : calls) {
      long[] part = Arrays.copyOfRange(states, first, first + shards.objects.length);
      runChecksums(Native.ENCODE, part.length / (k + m), shards, kind, part, null, null);
      System.arraycopy(part, 0, states, first, part.length);
      first += part.length;
    }
  }

  /** The shards of as many stripes as a call of the native library takes, for each call. */
  private Shards[] calls(Object[] data, Object[] parity, int stripes) {
    int most = MOST_SHARDS / (k + m);
    Shards[] calls = new Shards[(stripes + most - 1) / most];
    for (int c = 0; c < calls.length; c++) {
      int first = c * most;
      int end = Math.min(first + most, stripes);
      calls[c] = new Shards((end - first) * (k + m), c == 0 ? -1 : calls[0].length());
      for (int i = first * k; i < end * k; i++) {
        calls[c].read(data[i], "data", i);
      }
      for (int i = first * m; i < end * m; i++) {
        calls[c].write(parity[i], "parity", i);
      }
    }
    if (calls.length > 1) {
      Shards.requireApart(calls);
    }
    return calls;
  }

  private Shards encoding(Object[] data, Object[] parity) {
    requireCount(data, "data", k);
    requireCount(parity, "parity", m);
    Shards shards = new Shards(k + m);
    shards.readAll(data, "data");
    shards.writeAll(parity, "parity");
    return shards;
  }

  private void updateAll(int index, Object delta, Object[] parity) {
    if (index < 0 || index >= k) {
      throw new IllegalArgumentException("data shard " + index + "; allowed: 0 to " + (k - 1));
    }
    requireCount(parity, "parity", m);
    Shards shards = new Shards(1 + m);
    shards.read(delta, "delta", Shards.ALONE);
    shards.writeAll(parity, "parity");
    run(Native.UPDATE, index, 1, shards);
  }

  private void reconstructAll(Object[] shards, boolean[] present, boolean[] wanted) {
    run(Native.RECONSTRUCT, 0, k, repair(shards, present, wanted));
  }

  private boolean[] reconstructAll(
      Checksum kind, Object[] shards, boolean[] present, boolean[] wanted, long[] states, long[] expected) {
    Shards described = repair(shards, present, wanted);
    if (expected != null) {
      requireChecksums(kind, expected, "expected", k + m);
    }
    boolean[] wrong = new boolean[k + m];
    run(Native.RECONSTRUCT, described, kind, states, expected, wrong);
    return wrong;
  }

  private Shards repair(Object[] shards, boolean[] present, boolean[] wanted) {
    requireCount(shards, "shards", k + m);
    requireFlags(present, "present");
    if (wanted != null) {
      requireFlags(wanted, "wanted");
    }
    requireRepairable(present);
    Shards described = new Shards(k + m);
    for (int i = 0; i < k + m; i++) {
      if (present[i]) {
        described.read(shards[i], "shards", i);
      } else if (wanted == null || wanted[i]) {
        described.write(shards[i], "shards", i);
      } else {
        described.absent();
      }
    }
    return described;
  }

  private boolean checkAll(Object[] shards) {
    return run(Native.CHECK, 0, k, reading(shards)) == Native.OK;
  }

  private boolean checkAll(Checksum kind, Object[] shards, long[] states) {
    return run(Native.CHECK, reading(shards), kind, states, null, null) == Native.OK;
  }

  private Shards reading(Object[] shards) {
    requireCount(shards, "shards", k + m);
    Shards described = new Shards(k + m);
    described.readAll(shards, "shards");
    return described;
  }

  private static void requireChecksums(Checksum kind, long[] states, String name, long required) {
    if (kind == null) {
      throw new IllegalArgumentException("kind is null");
    }
    if (states == null || states.length != required) {
      throw count(name, states == null ? -1 : states.length, "checksums", required);
    }
    for (int i = 0; i < required; i++) {
      kind.requireBits(states[i], name + "[" + i + "]");
    }
  }

  private void requireFlags(boolean[] flags, String name) {
    if (flags == null || flags.length != k + m) {
      throw count(name, flags == null ? -1 : flags.length, "flags", k + m);
    }
  }

  private void requireRepairable(boolean[] present) {
    int missing = 0;
    for (boolean there : present) {
      missing += there ? 0 : 1;
    }
    if (missing > m) {
      throw new IllegalArgumentException(missing + " shards are missing; allowed: at most " + m);
    }
  }

  private static void requireCount(Object[] shards, String name, long required) {
    if (shards == null || shards.length != required) {
      throw count(name, shards == null ? -1 : shards.length, "shards", required);
    }
  }

  private static IllegalArgumentException count(String name, int given, String what, long required) {
    String had = given < 0 ? " is null" : " has " + given + " " + what;
    return new IllegalArgumentException(name + had + "; required: " + required);
  }

  private int run(int operation, int index, int inputs, Shards shards) {
    int result =
        Native.run(address, operation, index, inputs, shards.objects, shards.numbers, shards.length());
    return done(result);
  }

  /** Executes a call with checksums. {@code expected} is valid or null. */
  private int run(
      int operation, Shards shards, Checksum kind, long[] states, long[] expected, boolean[] wrong) {
    requireChecksums(kind, states, "states", k + m);
    kind.requireLength(shards.length());
    return runChecksums(operation, 1, shards, kind, states, expected, wrong);
  }

  /** Executes a call with valid checksums. */
  private int runChecksums(
      int operation,
      int stripes,
      Shards shards,
      Checksum kind,
      long[] states,
      long[] expected,
      boolean[] wrong) {
    int result =
        Native.runChecksums(
            address,
            operation,
            stripes,
            stripes * k,
            shards.objects,
            shards.numbers,
            shards.length(),
            kind.ordinal(),
            states,
            expected,
            wrong);
    return done(result);
  }

  private int done(int result) {
    Reference.reachabilityFence(this);
    if (result < 0) {
      throw failure(result, k, m);
    }
    return result;
  }
}
