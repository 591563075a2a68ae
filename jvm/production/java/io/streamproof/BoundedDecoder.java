package io.streamproof;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.util.Utf8;

/**
 * Avro's decoder, which believes no length that the bytes cannot hold.
 *
 * <p>Avro makes room for as many bytes or elements as a record says it has before it reads them: a broken record could ask for gigabytes,
 * and take the executor with it.
 */
final class BoundedDecoder extends Decoder {
  private BinaryDecoder bytes;

  BoundedDecoder over(byte[] value, int offset) {
    bytes = DecoderFactory.get().binaryDecoder(value, offset, value.length - offset, bytes);
    return this;
  }

  boolean isEnd() throws IOException {
    return bytes.isEnd();
  }

  private int length(long said) throws IOException {
    if (said < 0 || said > bytes.inputStream().available()) {
      throw new EOFException();
    }
    return (int) said;
  }

  @Override
  public Utf8 readString(Utf8 old) throws IOException {
    byte[] text = new byte[length(bytes.readLong())];
    bytes.readFixed(text, 0, text.length);
    return new Utf8(text);
  }

  @Override
  public String readString() throws IOException {
    return readString(null).toString();
  }

  @Override
  public void skipString() throws IOException {
    bytes.skipFixed(length(bytes.readLong()));
  }

  @Override
  public ByteBuffer readBytes(ByteBuffer old) throws IOException {
    byte[] content = new byte[length(bytes.readLong())];
    bytes.readFixed(content, 0, content.length);
    return ByteBuffer.wrap(content);
  }

  @Override
  public void skipBytes() throws IOException {
    skipString();
  }

  @Override
  public long readArrayStart() throws IOException {
    return length(bytes.readArrayStart());
  }

  @Override
  public long arrayNext() throws IOException {
    return length(bytes.arrayNext());
  }

  @Override
  public long skipArray() throws IOException {
    return length(bytes.skipArray());
  }

  @Override
  public long readMapStart() throws IOException {
    return length(bytes.readMapStart());
  }

  @Override
  public long mapNext() throws IOException {
    return length(bytes.mapNext());
  }

  @Override
  public long skipMap() throws IOException {
    return length(bytes.skipMap());
  }

  @Override
  public void readNull() throws IOException {
    bytes.readNull();
  }

  @Override
  public boolean readBoolean() throws IOException {
    return bytes.readBoolean();
  }

  @Override
  public int readInt() throws IOException {
    return bytes.readInt();
  }

  @Override
  public long readLong() throws IOException {
    return bytes.readLong();
  }

  @Override
  public float readFloat() throws IOException {
    return bytes.readFloat();
  }

  @Override
  public double readDouble() throws IOException {
    return bytes.readDouble();
  }

  @Override
  public void readFixed(byte[] into, int start, int length) throws IOException {
    bytes.readFixed(into, start, length);
  }

  @Override
  public void skipFixed(int length) throws IOException {
    bytes.skipFixed(length);
  }

  @Override
  public int readEnum() throws IOException {
    return bytes.readEnum();
  }

  @Override
  public int readIndex() throws IOException {
    return bytes.readIndex();
  }
}
