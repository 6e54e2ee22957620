import org.apache.hadoop.hdds.client.ECReplicationConfig;
import org.apache.ozone.erasurecode.CodecRegistry;
import org.apache.ozone.erasurecode.rawcoder.util.CodecUtil;

/** Prints for each codec the coders that Ozone has, in its order, and the coders that it chooses. */
final class Chosen {
  public static void main(String[] arguments) {
    for (String shape : new String[] {"rs-6-3-1024k", "xor-2-1-1024k"}) {
      ECReplicationConfig replication = new ECReplicationConfig(shape);
      String codec = replication.getCodec().name().toLowerCase();
      System.out.println(
          String.join(
              " ",
              codec,
              String.join(",", CodecRegistry.getInstance().getCoderNames(codec)),
              CodecUtil.createRawEncoderWithFallback(replication).getClass().getSimpleName(),
              CodecUtil.createRawDecoderWithFallback(replication).getClass().getSimpleName()));
    }
  }
}
