package io.streamproof;

import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.api.java.function.FlatMapGroupsWithStateFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.streaming.GroupState;
import org.apache.spark.sql.streaming.GroupStateTimeout;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function0;

/**
 * Compares the rows of a key with the newest one before: each row comes out again, and the one that the key changes to is marked.
 *
 * <p>The state of a key is the rank of its newest row and the latest of all event times; the row itself is out, and not kept. A key is forgotten
 * once the watermark is at that time and the horizon.
 */
public final class Newest implements FlatMapGroupsWithStateFunction<Row, Row, Row, Row> {
  private static final int ORDER = 0;
  private static final int TIME = 1;
  private static final int HASH = 2;
  private static final int TIE = 3;
  private static final int LATEST = 3;

  private final int rank;
  private final long horizon;
  private final boolean forgets;

  private Newest(int rank, long horizon, boolean forgets) {
    this.rank = rank;
    this.horizon = horizon;
    this.forgets = forgets;
  }

  /**
   * The rows with the mark set.
   *
   * @param rows their last columns are the rank and the mark. A rank is a struct: what puts the rows of a key in order (a whole number, a double, a
   *     decimal or bytes; null before all others), the event time in microseconds, a hash of the row, and what decides within a batch only.
   * @param horizon how long a key is remembered after the latest event time of its rows, microseconds
   * @param forgets false in a batch, which has no watermark
   */
  public static Dataset<Row> of(Dataset<Row> rows, List<String> key, long horizon, boolean forgets) {
    StructType schema = rows.schema();
    int ours = schema.size() - 2;
    StructType exactly = new StructType();
    Column[] asBytes = new Column[schema.size()];
    Column[] asGiven = new Column[schema.size()];
    for (int at = 0; at < schema.size(); at++) {
      StructField field = schema.apply(at);
      DataType type = at < ours ? ofBytes(field.dataType()) : field.dataType();
      exactly = exactly.add(new StructField(field.name(), type, field.nullable(), field.metadata()));
      asBytes[at] = as(field.name(), field.dataType(), type);
      asGiven[at] = as(field.name(), type, field.dataType());
    }
    List<String> names = List.of(schema.fieldNames());
    Column[] columns = key.stream().map(name -> asGiven[names.indexOf(name)]).toArray(Column[]::new);
    StructType ranks = (StructType) schema.apply(ours).dataType();
    StructType state =
        new StructType(new StructField[] {ranks.apply(ORDER), ranks.apply(TIME), ranks.apply(HASH)})
            .add("latest", DataTypes.LongType, false);
    return rows.select(asBytes)
        .groupBy(columns)
        .as(exact(rows, new StructType(key.stream().map(schema::apply).toArray(StructField[]::new))), exact(rows, exactly))
        .flatMapGroupsWithState(
            new Newest(ours, horizon, forgets),
            OutputMode.Update(),
            exact(rows, state),
            exact(rows, exactly),
            forgets ? GroupStateTimeout.EventTimeTimeout() : GroupStateTimeout.NoTimeout())
        .select(asGiven);
  }

  /** The column itself where its type stays: a cast of it would have lost the delay of its watermark. */
  private static Column as(String name, DataType from, DataType to) {
    Column column = functions.col("`" + name.replace("`", "``") + "`");
    return from.equals(to) ? column : column.cast(to).as(name);
  }

  /** Texts as their bytes: a Java string has other ones where they are no UTF-8. */
  private static DataType ofBytes(DataType type) {
    if (type instanceof StructType struct) {
      StructType found = new StructType();
      for (StructField field : struct.fields()) {
        found = found.add(new StructField(field.name(), ofBytes(field.dataType()), field.nullable(), field.metadata()));
      }
      return found;
    }
    if (type instanceof ArrayType array) {
      return new ArrayType(ofBytes(array.elementType()), array.containsNull());
    }
    if (type instanceof MapType map) {
      return new MapType(ofBytes(map.keyType()), ofBytes(map.valueType()), map.valueContainsNull());
    }
    return type.equals(DataTypes.StringType) ? DataTypes.BinaryType : type;
  }

  /** By the date and time classes of Java 8: the older ones shift days before 1582. */
  static Encoder<Row> exact(Dataset<Row> rows, StructType schema) {
    SQLConf settings = ((org.apache.spark.sql.classic.SparkSession) rows.sparkSession()).sessionState().conf().clone();
    settings.setConfString("spark.sql.datetime.java8API.enabled", "true");
    Function0<Encoder<Row>> made = () -> Encoders.row(schema);
    return SQLConf.withExistingConf(settings, made);
  }

  @Override
  public Iterator<Row> call(Row key, Iterator<Row> rows, GroupState<Row> state) {
    if (state.hasTimedOut()) {
      state.remove();
      return Collections.emptyIterator();
    }
    return new Compared(rows, state);
  }

  /** The rows of a key in a batch: the marked one, if there is one, is the last. The state is written with it, or after the last other. */
  private final class Compared implements Iterator<Row> {
    private final Iterator<Row> rows;
    private final GroupState<Row> state;
    private final Row before;
    private long latest;
    private Row newest;
    private Row next;
    private boolean over;

    Compared(Iterator<Row> rows, GroupState<Row> state) {
      this.rows = rows;
      this.state = state;
      before = state.exists() ? state.get() : null;
      latest = before == null ? Long.MIN_VALUE : before.getLong(LATEST);
      next = further();
    }

    @Override
    public boolean hasNext() {
      return next != null;
    }

    @Override
    public Row next() {
      if (next == null) {
        throw new NoSuchElementException();
      }
      Row given = next;
      next = further();
      return given;
    }

    private Row further() {
      while (rows.hasNext()) {
        Row row = rows.next();
        Row ranked = row.getStruct(rank);
        latest = Math.max(latest, ranked.getLong(TIME));
        boolean isNewest = (before == null || compare(ranked, before) > 0) && (newest == null || isAbove(ranked, newest.getStruct(rank)));
        Row other = isNewest ? newest : row;
        newest = isNewest ? row : newest;
        if (other != null) {
          return other;
        }
      }
      if (over) {
        return null;
      }
      over = true;
      remember();
      return newest == null ? null : marked(newest);
    }

    private void remember() {
      Row by = newest == null ? before : newest.getStruct(rank);
      state.update(RowFactory.create(by.get(ORDER), by.get(TIME), by.get(HASH), latest));
      if (!forgets) {
        return;
      }
      long expires = Math.floorDiv(latest + horizon + 999L, 1000L);
      if (expires <= state.getCurrentWatermarkMs()) {
        state.remove();
      } else {
        state.setTimeoutTimestamp(expires - 1); // Spark's timeout is over when the watermark is above it
      }
    }

    private Row marked(Row row) {
      Object[] values = new Object[row.size()];
      for (int column = 0; column < values.length; column++) {
        values[column] = row.get(column);
      }
      values[values.length - 1] = Boolean.TRUE;
      return RowFactory.create(values);
    }
  }

  /** Within a batch the last field decides between rows that are alike. */
  private static boolean isAbove(Row one, Row other) {
    int found = compare(one, other);
    return found > 0 || (found == 0 && !one.isNullAt(TIE) && one.getString(TIE).compareTo(other.getString(TIE)) > 0);
  }

  private static int compare(Row one, Row other) {
    int found = compared(one.get(ORDER), other.get(ORDER));
    for (int field = TIME; found == 0 && field <= HASH; field++) {
      found = Long.compare(one.getLong(field), other.getLong(field));
    }
    return found;
  }

  @SuppressWarnings("unchecked")
  static int compared(Object one, Object other) {
    if (one == null || other == null) {
      return Boolean.compare(one != null, other != null);
    }
    if (one instanceof Double number) {
      return Double.compare(number + 0.0, (Double) other + 0.0); // -0.0 is 0.0, as for Spark
    }
    return one instanceof byte[] bytes ? Arrays.compareUnsigned(bytes, (byte[]) other) : ((Comparable<Object>) one).compareTo(other);
  }
}
