import org.apache.ozone.erasurecode.rawcoder.RSRawErasureCoderFactory;
import org.apache.ozone.erasurecode.rawcoder.RawErasureCoderFactory;
import org.apache.ozone.erasurecode.rawcoder.TestRSRawCoderBase;
import org.apache.ozone.erasurecode.rawcoder.TestXORRawCoderBase;
import org.apache.ozone.erasurecode.rawcoder.XORRawErasureCoderFactory;
import org.gfsmith.ozone.RsFactory;
import org.gfsmith.ozone.XorFactory;

/**
 * Ozone's tests of raw coders with gfsmith's factories, as Ozone's own classes choose factories: alone, and
 * interoperable with Ozone's coder for the same codec.
 */
public final class CoderTests {
  private CoderTests() {}

  public abstract static class Rs extends TestRSRawCoderBase {
    Rs(Class<? extends RawErasureCoderFactory> encoder, Class<? extends RawErasureCoderFactory> decoder) {
      super(encoder, decoder);
      setAllowDump(false);
    }
  }

  public abstract static class Xor extends TestXORRawCoderBase {
    Xor(Class<? extends RawErasureCoderFactory> encoder, Class<? extends RawErasureCoderFactory> decoder) {
      super(encoder, decoder);
      setAllowDump(false);
    }
  }

  public static final class TestRs extends Rs {
    TestRs() {
      super(RsFactory.class, RsFactory.class);
    }
  }

  public static final class TestRsEncoder extends Rs {
    TestRsEncoder() {
      super(RsFactory.class, RSRawErasureCoderFactory.class);
    }
  }

  public static final class TestRsDecoder extends Rs {
    TestRsDecoder() {
      super(RSRawErasureCoderFactory.class, RsFactory.class);
    }
  }

  public static final class TestXor extends Xor {
    TestXor() {
      super(XorFactory.class, XorFactory.class);
    }
  }

  public static final class TestXorEncoder extends Xor {
    TestXorEncoder() {
      super(XorFactory.class, XORRawErasureCoderFactory.class);
    }
  }

  public static final class TestXorDecoder extends Xor {
    TestXorDecoder() {
      super(XORRawErasureCoderFactory.class, XorFactory.class);
    }
  }
}
