package io.streamproof;

import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A hash of a text's bytes for the sums of R4, in whole words: Spark's xxhash64 takes the last bytes of a text one by one, which is
 * most of its time with texts as short as ids.
 *
 * <p>Every byte is in one of the words that are mixed, since the last word begins where it must to end with the text; the length is
 * in the seed. The mixing of a word is xxhash64's.
 */
public final class TextHash implements Serializable {
  private static final long SEED = 42L;
  private static final long NULL = 0x9E3779B97F4A7C15L;

  /** The hash of a column of texts as a column (bigint, never null). */
  public static Column column(Column text) {
    return Called.column(new TextHash(), "of", DataTypes.LongType, text);
  }

  public long of(UTF8String text) {
    if (text == null) {
      return NULL;
    }
    Object base = text.getBaseObject();
    long at = text.getBaseOffset();
    int bytes = text.numBytes();
    long hash = SEED + bytes;
    if (bytes < Long.BYTES) {
      return XXH64.hashLong(shortWord(base, at, bytes), hash);
    }
    long last = at + bytes - Long.BYTES;
    for (; at < last; at += Long.BYTES) {
      hash = XXH64.hashLong(Platform.getLong(base, at), hash);
    }
    return XXH64.hashLong(Platform.getLong(base, last), hash);
  }

  /** Up to seven bytes in a word; together with their number they can be told from all others. */
  private static long shortWord(Object base, long at, int bytes) {
    long word = 0;
    for (int number = 0; number < bytes; number++) {
      word = word << Byte.SIZE | Platform.getByte(base, at + number) & 0xFF;
    }
    return word;
  }

  @Override
  public String toString() {
    return "text hash";
  }
}
