import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.apache.ozone.erasurecode.rawcoder.util.CodecUtil;
import org.gfsmith.hadoop.Coders;

/** Encodes a stripe of Ozone, 6 + 3, loses three units and rebuilds them with the coders that Ozone chooses. */
public final class Ozone {
  private static final int K = 6, M = 3, LENGTH = 1 << 20;

  private static ByteBuffer[] buffers(int count) {
    ByteBuffer[] buffers = new ByteBuffer[count];
    Arrays.setAll(buffers, i -> ByteBuffer.allocateDirect(LENGTH));
    return buffers;
  }

  private static ByteBuffer[] rewound(ByteBuffer[] units) {
    return Arrays.stream(units).map(unit -> unit.duplicate().rewind()).toArray(ByteBuffer[]::new);
  }

  public static void main(String[] arguments) throws Exception {
    ECReplicationConfig replication = new ECReplicationConfig("rs-6-3-1024k");
    ByteBuffer[] data = buffers(K), parities = buffers(M);
    Random random = new Random(1);
    for (ByteBuffer unit : data) {
      byte[] bytes = new byte[LENGTH];
      random.nextBytes(bytes);
      unit.put(bytes);
    }
    CodecUtil.createRawEncoderWithFallback(replication).encode(rewound(data), rewound(parities));

    ByteBuffer[] units = Arrays.copyOf(rewound(data), K + M);
    System.arraycopy(rewound(parities), 0, units, K, M);
    int[] erased = {0, 3, 7};
    ByteBuffer[] lost = Arrays.stream(erased).mapToObj(i -> units[i].duplicate()).toArray(ByteBuffer[]::new);
    for (int index : erased) {
      units[index] = null;
    }
    ByteBuffer[] rebuilt = buffers(erased.length);
    CodecUtil.createRawDecoderWithFallback(replication).decode(units, erased, rewound(rebuilt));
    if (!Arrays.equals(rewound(rebuilt), lost)) {
      throw new AssertionError("a rebuilt unit differs");
    }
    System.out.println("all units are back, " + Coders.calls() + " calls of gfsmith");
  }
}
