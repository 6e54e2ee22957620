import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.gfsmith.Codec;

/** Encodes 10 data shards into 4 parity shards, loses 4 shards, rebuilds them and compares. */
final class Program {
  private static final int K = 10, M = 4, LENGTH = 100_000;

  public static void main(String[] arguments) {
    byte[][] original = new byte[K][LENGTH];
    ByteBuffer[] shards = new ByteBuffer[K + M]; // outside of the heap: no call delays the garbage collector
    Arrays.setAll(shards, i -> ByteBuffer.allocateDirect(LENGTH));
    Random random = new Random();
    for (int j = 0; j < K; j++) {
      random.nextBytes(original[j]);
      shards[j].put(original[j]).clear();
    }

    Codec codec = Codec.create("cauchy", K, M); // immutable: threads may share it
    codec.encode(Arrays.copyOf(shards, K), Arrays.copyOfRange(shards, K, K + M));

    boolean[] present = new boolean[K + M];
    Arrays.fill(present, true);
    for (int lost : new int[] {0, 3, 7, 12}) { // three data shards and one parity shard
      shards[lost].put(new byte[LENGTH]).clear();
      present[lost] = false;
    }
    codec.reconstruct(shards, present);

    boolean equal = codec.check(shards);
    for (int j = 0; j < K; j++) {
      equal &= shards[j].equals(ByteBuffer.wrap(original[j]));
    }
    System.out.println(equal ? "all shards are back" : "bytes differ");
  }
}
