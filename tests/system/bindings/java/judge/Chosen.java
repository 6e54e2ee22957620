import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.erasurecode.CodecRegistry;
import org.apache.hadoop.io.erasurecode.CodecUtil;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;

/** Prints for each codec the coders that Hadoop has, and the encoder that it chooses for CODERS, or as configured. */
final class Chosen {
  public static void main(String[] coders) {
    Configuration configuration = new Configuration();
    for (String codec : new String[] {"rs", "rs-legacy", "xor"}) {
      String[] own = Arrays.stream(coders).map(coder -> codec + "_" + coder).toArray(String[]::new);
      if (own.length > 0) {
        configuration.setStrings("io.erasurecode.codec." + codec + ".rawcoders", own);
      }
      var encoder =
          CodecUtil.createRawEncoder(
              configuration, codec, new ErasureCoderOptions(6, codec.equals("xor") ? 1 : 3));
      String known = String.join(",", CodecRegistry.getInstance().getCoderNames(codec));
      System.out.println(codec + " " + known + " " + encoder.getClass().getSimpleName());
    }
  }
}
