package org.gfsmith.hadoop;

import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.apache.hadoop.io.erasurecode.rawcoder.GfsmithRawDecoder;
import org.apache.hadoop.io.erasurecode.rawcoder.GfsmithRawEncoder;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureDecoder;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureEncoder;
import org.gfsmith.Codec;

/** A factory of raw coders for one of Hadoop's codecs. */
abstract class Factory implements RawErasureCoderFactory {
  private final String codecName;
  private final Coders.Maker maker;

  Factory(String codecName, Coders.Maker maker) {
    this.codecName = codecName;
    this.maker = maker;
  }

  @Override
  public String getCodecName() {
    return codecName;
  }

  @Override
  public String getCoderName() {
    return codecName + "_gfsmith";
  }

  @Override
  public RawErasureEncoder createEncoder(ErasureCoderOptions options) {
    return new GfsmithRawEncoder(options, codec(options));
  }

  @Override
  public RawErasureDecoder createDecoder(ErasureCoderOptions options) {
    return new GfsmithRawDecoder(options, codec(options));
  }

  /** Returns null for a shape without data or without parities: its coders have nothing to compute. */
  private Codec codec(ErasureCoderOptions options) {
    int k = options.getNumDataUnits();
    int m = options.getNumParityUnits();
    if (k == 0 || m == 0) {
      return null;
    }
    try {
      return Coders.codec(getCoderName(), k, m, maker);
    } catch (IllegalArgumentException reason) {
      throw new HadoopIllegalArgumentException(
          "Invalid numDataUnits and numParityUnits: " + reason.getMessage());
    }
  }
}
