import org.apache.hadoop.io.erasurecode.rawcoder.RSLegacyRawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.RSRawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.TestRSRawCoderBase;
import org.apache.hadoop.io.erasurecode.rawcoder.TestXORRawCoderBase;
import org.apache.hadoop.io.erasurecode.rawcoder.XORRawErasureCoderFactory;
import org.gfsmith.hadoop.RsFactory;
import org.gfsmith.hadoop.RsLegacyFactory;
import org.gfsmith.hadoop.XorFactory;
import org.junit.Before;

/**
 * Hadoop's tests of raw coders with gfsmith's factories, as Hadoop's own classes choose factories: alone,
 * and interoperable with Hadoop's coder for the same codec.
 */
public final class CoderTests {
  private CoderTests() {}

  public abstract static class Rs extends TestRSRawCoderBase {
    void choose(
        Class<? extends RawErasureCoderFactory> encoder, Class<? extends RawErasureCoderFactory> decoder) {
      encoderFactoryClass = encoder;
      decoderFactoryClass = decoder;
      setAllowDump(false);
    }
  }

  public abstract static class Xor extends TestXORRawCoderBase {
    void choose(
        Class<? extends RawErasureCoderFactory> encoder, Class<? extends RawErasureCoderFactory> decoder) {
      encoderFactoryClass = encoder;
      decoderFactoryClass = decoder;
      setAllowDump(false);
    }
  }

  public static final class TestRs extends Rs {
    @Before
    public void setup() {
      choose(RsFactory.class, RsFactory.class);
    }
  }

  public static final class TestRsEncoder extends Rs {
    @Before
    public void setup() {
      choose(RsFactory.class, RSRawErasureCoderFactory.class);
    }
  }

  public static final class TestRsDecoder extends Rs {
    @Before
    public void setup() {
      choose(RSRawErasureCoderFactory.class, RsFactory.class);
    }
  }

  public static final class TestRsLegacy extends Rs {
    @Before
    public void setup() {
      choose(RsLegacyFactory.class, RsLegacyFactory.class);
    }
  }

  public static final class TestRsLegacyEncoder extends Rs {
    @Before
    public void setup() {
      choose(RsLegacyFactory.class, RSLegacyRawErasureCoderFactory.class);
    }
  }

  public static final class TestRsLegacyDecoder extends Rs {
    @Before
    public void setup() {
      choose(RSLegacyRawErasureCoderFactory.class, RsLegacyFactory.class);
    }
  }

  public static final class TestXor extends Xor {
    @Before
    public void setup() {
      choose(XorFactory.class, XorFactory.class);
    }
  }

  public static final class TestXorEncoder extends Xor {
    @Before
    public void setup() {
      choose(XorFactory.class, XORRawErasureCoderFactory.class);
    }
  }

  public static final class TestXorDecoder extends Xor {
    @Before
    public void setup() {
      choose(XORRawErasureCoderFactory.class, XorFactory.class);
    }
  }
}
