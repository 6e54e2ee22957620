package org.gfsmith.hadoop;

import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.apache.hadoop.io.erasurecode.rawcoder.GfsmithRawDecoder;
import org.apache.hadoop.io.erasurecode.rawcoder.GfsmithRawEncoder;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureCoderFactory;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureDecoder;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureEncoder;

/** A factory of raw coders for one of Hadoop's codecs. */
abstract class Factory implements RawErasureCoderFactory {
  private final Code code;

  Factory(Code code) {
    this.code = code;
  }

  @Override
  public String getCodecName() {
    return code.codecName();
  }

  @Override
  public String getCoderName() {
    return code.coderName();
  }

  @Override
  public RawErasureEncoder createEncoder(ErasureCoderOptions options) {
    return new GfsmithRawEncoder(options, code);
  }

  @Override
  public RawErasureDecoder createDecoder(ErasureCoderOptions options) {
    return new GfsmithRawDecoder(options, code);
  }
}
