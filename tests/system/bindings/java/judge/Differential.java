import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.apache.hadoop.io.erasurecode.rawcoder.RSLegacyRawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.RSRawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.XORRawErasureCoderFactory;
import org.gfsmith.hadoop.Coders;
import org.gfsmith.hadoop.RsFactory;
import org.gfsmith.hadoop.RsLegacyFactory;
import org.gfsmith.hadoop.XorFactory;

/** Random calls of gfsmith's coders and of Hadoop's: equal bytes, positions and exceptions. ROUNDS SEED. */
final class Differential {
  private record Pair(RawErasureCoderFactory ours, RawErasureCoderFactory original, boolean xor) {}

  private static final List<Pair> PAIRS =
      List.of(
          new Pair(new RsFactory(), new RSRawErasureCoderFactory(), false),
          new Pair(new RsLegacyFactory(), new RSLegacyRawErasureCoderFactory(), false),
          new Pair(new XorFactory(), new XORRawErasureCoderFactory(), true));

  private enum Memory {
    DIRECT,
    HEAP,
    SLICES,
    ARRAYS
  }

  /** A call of one coder; it returns the exception, or null. */
  private interface Call {
    void run(RawErasureCoderFactory factory) throws Exception;
  }

  private final Random random;
  private final Pair pair;
  private final ErasureCoderOptions options;
  private final int k, m, length;
  private final Memory memory;

  private Differential(Random random) {
    this.random = random;
    pair = PAIRS.get(random.nextInt(PAIRS.size()));
    boolean wide = random.nextInt(40) == 0;
    k = 1 + random.nextInt(wide ? 128 : 16);
    m = pair.xor ? 1 : 1 + random.nextInt(wide ? 32 : 6);
    options = new ErasureCoderOptions(k, m);
    // Longer than the piece of an array that one hold covers, sometimes.
    length = random.nextInt(60) == 0 ? 300_000 + random.nextInt(300_000) : random.nextInt(3000);
    memory = Memory.values()[random.nextInt(Memory.values().length)];
  }

  private ByteBuffer buffer(byte[] contents) {
    int before = random.nextInt(80);
    int bytes = before + contents.length + random.nextInt(80);
    ByteBuffer buffer = memory == Memory.DIRECT ? ByteBuffer.allocateDirect(bytes) : ByteBuffer.allocate(bytes);
    if (memory == Memory.SLICES) {
      before = random.nextInt(before + 1);
      buffer.position(before);
      buffer = buffer.slice();
      before = random.nextInt(Math.min(20, buffer.capacity() - contents.length + 1));
    }
    buffer.position(before);
    buffer.put(contents);
    buffer.flip().position(before);
    return buffer;
  }

  private ByteBuffer[] buffers(byte[][] units) {
    return Arrays.stream(units).map(unit -> unit == null ? null : buffer(unit)).toArray(ByteBuffer[]::new);
  }

  private static byte[] contents(ByteBuffer buffer) {
    ByteBuffer copy = buffer.duplicate();
    byte[] bytes = new byte[copy.remaining()];
    copy.get(bytes);
    return bytes;
  }

  private byte[][] junk(int count) {
    byte[][] units = new byte[count][length];
    for (byte[] unit : units) {
      random.nextBytes(unit);
    }
    return units;
  }

  private byte[][] encode(RawErasureCoderFactory factory, byte[][] data) throws Exception {
    byte[][] parity = junk(m);
    var encoder = factory.createEncoder(options);
    if (memory == Memory.ARRAYS) {
      if (length == 0) { // Hadoop refuses empty arrays: no call, no result
        return new byte[m][0];
      }
      encoder.encode(data, parity);
      return parity;
    }
    ByteBuffer[] inputs = buffers(data);
    ByteBuffer[] outputs = buffers(parity);
    encoder.encode(inputs, outputs);
    for (ByteBuffer input : inputs) {
      Expect.require(input.remaining() == 0, "an encoder must move the positions of the inputs");
    }
    return Arrays.stream(outputs).map(Differential::contents).toArray(byte[][]::new);
  }

  private byte[][] decode(RawErasureCoderFactory factory, byte[][] units, int[] erased) throws Exception {
    byte[][] rebuilt = junk(erased.length);
    var decoder = factory.createDecoder(options);
    if (memory == Memory.ARRAYS) {
      decoder.decode(units, erased, rebuilt);
      return rebuilt;
    }
    ByteBuffer[] inputs = buffers(units);
    ByteBuffer[] outputs = buffers(rebuilt);
    decoder.decode(inputs, erased, outputs);
    for (ByteBuffer input : inputs) {
      Expect.require(input == null || input.remaining() == 0, "a decoder must move the positions of the inputs");
    }
    return Arrays.stream(outputs).map(Differential::contents).toArray(byte[][]::new);
  }

  /** Returns some erased units in any order; the others that may be null are not read. */
  private int[] erased(byte[][] units) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, k + m).boxed().toList());
    Collections.shuffle(all, random);
    int missing = 1 + random.nextInt(m);
    int[] erased = all.stream().limit(missing).mapToInt(i -> i).toArray();
    if (random.nextBoolean() || pair.xor) {
      Arrays.sort(erased);
    }
    for (int index : erased) {
      units[index] = null;
    }
    for (int i = missing; i < m && !pair.xor; i++) {
      if (random.nextBoolean()) {
        units[all.get(i)] = null;
      }
    }
    return erased;
  }

  private boolean legacy() {
    return pair.ours.getCodecName().equals("rs-legacy");
  }

  private void compare() throws Exception {
    byte[][] data = junk(k);
    byte[][] expected = encode(pair.original, data);
    Expect.require(Arrays.deepEquals(expected, encode(pair.ours, data)), "parities differ: " + this);
    if (length == 0) {
      return;
    }
    byte[][] units = Arrays.copyOf(data, k + m);
    System.arraycopy(expected, 0, units, k, m);
    byte[][] intact = units.clone();
    int[] erased = erased(units);
    byte[][] rebuilt = decode(pair.ours, units, erased);
    for (int n = 0; n < erased.length; n++) {
      Expect.require(Arrays.equals(rebuilt[n], intact[erased[n]]), "unit " + erased[n] + " differs: " + this);
    }
    // Hadoop's decoders require sorted indexes, and that of rs-legacy all other units.
    boolean sorted = IntStream.range(1, erased.length).allMatch(n -> erased[n - 1] < erased[n]);
    if (sorted && !legacy()) {
      Expect.require(Arrays.deepEquals(rebuilt, decode(pair.original, units, erased)), "decoders differ: " + this);
    }
  }

  private static String failure(RawErasureCoderFactory factory, Call call) {
    try {
      call.run(factory);
      return "none";
    } catch (Throwable reason) {
      return reason.getClass().getName() + ": " + reason.getMessage();
    }
  }

  private static String type(String failure) {
    return failure.split(":")[0];
  }

  private ByteBuffer[] mixed() {
    ByteBuffer[] mixed = new ByteBuffer[k];
    Arrays.setAll(mixed, i -> i == 0 ? ByteBuffer.allocateDirect(length) : ByteBuffer.allocate(length));
    return mixed;
  }

  /** Invalid calls, and those without bytes: the exceptions are Hadoop's. */
  private void compareExceptions() {
    byte[][] data = junk(k);
    byte[][] units = junk(k + m);
    byte[][] uneven = junk(k);
    uneven[k - 1] = new byte[length + 1];
    byte[][] holes = junk(k);
    holes[0] = null;
    byte[][] few = junk(k + m);
    Arrays.fill(few, 0, m + 1, null);
    int[] many = IntStream.range(0, m + 1).toArray();
    List<Call> calls =
        List.of(
            factory -> factory.createEncoder(options).encode(junk(k + 1), junk(m)),
            factory -> factory.createEncoder(options).encode(data, junk(m + 1)),
            factory -> factory.createEncoder(options).encode(uneven, junk(m)),
            factory -> factory.createEncoder(options).encode(holes, junk(m)),
            factory -> factory.createEncoder(options).encode(data, new byte[m][]),
            factory -> factory.createEncoder(options).encode(mixed(), buffers(junk(m))),
            factory -> factory.createEncoder(options).encode(new byte[k][0], new byte[m][0]),
            factory -> factory.createDecoder(options).decode(junk(k), new int[] {0}, junk(1)),
            factory -> factory.createDecoder(options).decode(units, new int[] {0}, junk(2)),
            factory -> factory.createDecoder(options).decode(units, many, junk(m + 1)),
            factory -> factory.createDecoder(options).decode(few, new int[] {0}, junk(1)),
            factory -> factory.createDecoder(options).decode(units, new int[] {0}, new byte[1][]),
            factory -> factory.createEncoder(new ErasureCoderOptions(250, 6)),
            factory -> factory.createDecoder(new ErasureCoderOptions(250, 6)));
    for (int n = 0; n < calls.size(); n++) {
      // The XOR coder of Hadoop has no limit, and its rs-legacy decoder leaves its own array instead of checking.
      boolean unchecked = pair.xor ? n >= 12 : legacy() && n >= 7;
      String expected = failure(unchecked ? PAIRS.get(0).original : pair.original, calls.get(n));
      String ours = failure(pair.ours, calls.get(n));
      // Of the wrong shapes only the type is compared: the original's messages do not state the limit.
      boolean same = n >= 12 ? type(ours).equals(type(expected)) : ours.equals(expected);
      Expect.require(same, "invalid call " + n + " of " + this + ": " + ours + ", expected " + expected);
    }
    stated("Erased index " + (k + m) + ", allowed: 0 to " + (k + m - 1), units, k + m);
    stated("Erased index -1, allowed: 0 to " + (k + m - 1), units, -1);
    if (m > 1) {
      stated("Erased index 1 occurs twice", units, 1, 1);
    }
  }

  /** Calls for which Hadoop's coders have no message. */
  private void stated(String message, byte[][] units, int... erased) {
    byte[][] inputs = units.clone();
    String expected = "org.apache.hadoop.HadoopIllegalArgumentException: " + message;
    if (length > 0) {
      String ours =
          failure(pair.ours, f -> f.createDecoder(options).decode(inputs, erased, junk(erased.length)));
      Expect.require(ours.equals(expected), ours + ", expected " + expected);
    }
  }

  @Override
  public String toString() {
    return pair.ours.getCoderName() + " " + k + "+" + m + ", " + length + " bytes, " + memory;
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    Random random = new Random(Long.parseLong(arguments[1]));
    for (int round = 0; round < rounds; round++) {
      Differential one = new Differential(random);
      one.compare();
      if (round % 10 == 0) {
        one.compareExceptions();
      }
    }
    System.out.println(rounds + " rounds, " + Coders.calls() + " calls of gfsmith");
  }
}
