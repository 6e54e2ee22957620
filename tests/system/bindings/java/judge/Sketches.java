import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.gfsmith.Codec;
import org.gfsmith.Sketch;

/** org.gfsmith.Sketch against sketches of tests/oracle/sketch.py, sums of pieces, codecs, and invalid arguments. */
final class Sketches {
  private static final int K = 4, M = 2, N = K + M;
  private static final byte[] TEXT = "123456789".getBytes();

  private static byte[] of(Sketch tables, long offset, byte[] data) {
    byte[] sum = new byte[Sketch.BYTES];
    tables.add(sum, offset, data);
    return sum;
  }

  private static void known(Sketch tables, long offset, String want) {
    byte[] expected = HexFormat.of().parseHex(want);
    Expect.require(Arrays.equals(of(tables, offset, TEXT), expected), "the sketch at " + offset + " differs");
    for (int cut = 0; cut <= TEXT.length; cut++) {
      byte[] sum = of(tables, offset + cut, Arrays.copyOfRange(TEXT, cut, TEXT.length));
      tables.add(sum, offset, ByteBuffer.wrap(TEXT, 0, cut));
      Expect.require(Arrays.equals(sum, expected), "the sum of two pieces differs");
    }
  }

  /** More bytes than one hold of an array covers. */
  private static void stripe(Sketch tables, Codec codec, Random random) {
    byte[][] all = new byte[N][600_001];
    for (byte[] shard : all) {
      random.nextBytes(shard);
    }
    byte[][] data = Arrays.copyOf(all, K);
    codec.encode(data, Arrays.copyOfRange(all, K, N));
    byte[][] sums = Arrays.stream(all).map(shard -> of(tables, 0, shard)).toArray(byte[][]::new);
    Expect.require(codec.check(sums), "the sketches are no stripe");
    for (int i = 0; i < N; i++) {
      ByteBuffer outside = ByteBuffer.allocateDirect(all[i].length).put(all[i]).flip();
      byte[] sum = new byte[Sketch.BYTES];
      tables.add(sum, 0, outside);
      Expect.require(Arrays.equals(sum, sums[i]), "the sketch of a direct buffer differs");
    }
    all[1][600_000] ^= 4;
    sums[1] = of(tables, 0, all[1]);
    Expect.require(!codec.check(sums), "a wrong byte is not found");
  }

  private static void refusals(Sketch tables) {
    byte[] sum = new byte[Sketch.BYTES];
    Expect.refused("sum has no bytes; required: 8", () -> tables.add(null, 0, TEXT));
    Expect.refused("sum has 7 bytes; required: 8", () -> tables.add(new byte[7], 0, TEXT));
    Expect.refused("offset is -1; allowed: 0 or more", () -> tables.add(sum, -1, TEXT));
    Expect.refused("data is null", () -> tables.add(sum, 0, (byte[]) null));
    Expect.refused("polynomial 0x101; required: irreducible, of degree 8", () -> Sketch.create(0x101));
    Expect.require(Arrays.equals(sum, new byte[Sketch.BYTES]), "a refused call changed a sketch");
  }

  public static void main(String[] arguments) {
    Sketch tables = Sketch.create(Sketch.POLYNOMIAL);
    known(tables, 0, "a70b027c003a0138");
    known(tables, (1L << 40) + 3, "fcee58cc32afc0ed");
    Random random = new Random(8);
    stripe(tables, Codec.create("cauchy", K, M), random);
    byte[] parity = {1, 1, 1, 1, 1, 2, 4, 8};
    stripe(Sketch.create(0x11b), Codec.create(0x11b, K, M, parity), random);
    refusals(tables);
    System.out.println(Codec.isa());
  }
}
