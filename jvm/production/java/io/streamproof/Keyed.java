package io.streamproof;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapGroupsWithStateFunction;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.KeyValueGroupedDataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.GroupState;
import org.apache.spark.sql.streaming.GroupStateTimeout;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Declared state of a key: each row changes it and gives rows by expressions, which Spark compiles; so do timers that are due.
 *
 * <p>The rows of a key in one batch are taken in the order of their event times, then of a hash, so that it does not matter how Spark has split the
 * batch. A timer that the watermark has reached fires before a row of a later time, whichever batch brings that. The state of a key is the bytes
 * of its fields, of which the last are its timers; and the latest event time of its rows, from which its time to live counts.
 */
public final class Keyed implements FlatMapGroupsWithStateFunction<Row, Row, Row, Row> {
  /** In place of the number of an output: the record has changed the state, and given no row; or none of the main output. */
  static final int ABSORBED = -1;

  static final int TAGGED = -2;
  private static final int MAIN = 0;

  private static final int VALUE = 0;
  private static final int LATEST = 1;
  private static final int KEY = 2;
  private static final int SET_BY = 3;

  private final KeyedRules rules;
  private final int time;
  private final int order;
  private final int place;
  private final int trace;
  private final int row;
  private transient KeyedRules.Compiled tools;

  private Keyed(KeyedRules rules, int first) {
    this.rules = rules;
    this.time = first;
    this.order = first + 1;
    this.place = first + 2;
    this.trace = first + 3;
    this.row = first + 4;
  }

  /**
   * What comes out: `_place`, the number of the output, or one of the places above; `_row`, its bytes; `_records`, how many records are first in
   * a row by it; and `_trace`, what tells the row apart in a proof.
   *
   * @param rows what comes in, with more columns: `_number`, what puts rows of one time in order (null where nothing
   *     does), `_place`, a hash of the row (bigint), and `_trace` (string, null outside a proof)
   * @param columns the columns of the rows that expressions see, in the order of the relations that these are over
   * @param begins the state of keys before the first batch: the columns of the key, `_latest` (bigint), and `_fields`, a struct; null for none
   */
  public static Dataset<Row> of(
      Dataset<Row> rows, List<String> key, List<String> columns, String eventTime, KeyedRules rules, Dataset<Row> begins) {
    StructType schema = rows.schema();
    List<String> names = List.of(schema.fieldNames());
    StructType seen = new StructType(columns.stream().map(name -> schema.apply(names.indexOf(name))).toArray(StructField[]::new));
    Column struct = functions.struct(columns.stream().map(Keyed::column).toArray(Column[]::new));
    List<Column> coming = new ArrayList<>(key.stream().map(Keyed::column).toList());
    if (!key.contains(eventTime)) {
      coming.add(column(eventTime)); // Spark asks for a column with a watermark where state has timeouts
    }
    coming.add(functions.unix_micros(column(eventTime)).as("_time"));
    coming.add(column("_number"));
    coming.add(column("_place"));
    coming.add(column("_trace").cast(DataTypes.BinaryType).as("_trace"));
    coming.add(Packed.of(struct, seen).as("_row"));
    Dataset<Row> taken = rows.select(coming.toArray(Column[]::new));
    StructType state = new StructType().add("value", DataTypes.BinaryType).add("latest", DataTypes.LongType).add("key", DataTypes.BinaryType);
    for (int timer = 0; rules.traced && timer < rules.timers.size(); timer++) {
      state = state.add("set_by_" + timer, DataTypes.BinaryType);
    }
    StructType given =
        new StructType()
            .add("_place", DataTypes.IntegerType, false)
            .add("_row", DataTypes.BinaryType)
            .add("_records", DataTypes.LongType, false)
            .add("_trace", DataTypes.BinaryType);
    StructField[] keyFields = key.stream().map(name -> schema.apply(names.indexOf(name))).toArray(StructField[]::new);
    Column[] by = key.stream().map(Keyed::column).toArray(Column[]::new);
    KeyValueGroupedDataset<Row, Row> ofKeys = taken.groupBy(by).as(Newest.exact(rows, new StructType(keyFields)), Newest.exact(rows, taken.schema()));
    Keyed keyed = new Keyed(rules, coming.size() - 5);
    Encoder<Row> kept = Encoders.row(state);
    GroupStateTimeout ends = rules.forgets ? GroupStateTimeout.EventTimeTimeout() : GroupStateTimeout.NoTimeout();
    Dataset<Row> made =
        begins == null
            ? ofKeys.flatMapGroupsWithState(keyed, OutputMode.Update(), kept, Encoders.row(given), ends)
            : ofKeys.flatMapGroupsWithState(
                keyed, OutputMode.Update(), kept, Encoders.row(given), ends, begun(begins, by, new StructType(keyFields), state));
    return made.select(column("_place"), column("_row"), column("_records"), column("_trace").cast(DataTypes.StringType).as("_trace"));
  }

  /** The state of keys before the first batch, with no timer set. */
  private static KeyValueGroupedDataset<Row, Row> begun(Dataset<Row> begins, Column[] by, StructType key, StructType state) {
    List<Column> parts = new ArrayList<>(List.of(by));
    parts.add(Packed.of(column("_fields"), (StructType) begins.schema().apply("_fields").dataType()).as("_value"));
    parts.add(column("_latest"));
    Dataset<Row> packed = begins.select(parts.toArray(Column[]::new));
    int value = by.length;
    int size = state.size();
    MapFunction<Row, Row> asState =
        row -> {
          Object[] kept = new Object[size];
          kept[VALUE] = row.get(value);
          kept[LATEST] = row.get(value + 1);
          return RowFactory.create(kept);
        };
    return packed.groupBy(by).as(Newest.exact(begins, key), Newest.exact(begins, packed.schema())).mapValues(asState, Encoders.row(state));
  }

  private static Column column(String name) {
    return functions.col("`" + name.replace("`", "``") + "`");
  }

  @Override
  public Iterator<Row> call(Row key, Iterator<Row> rows, GroupState<Row> state) {
    tools = tools == null ? rules.compiled() : tools;
    long watermark = rules.forgets ? state.getCurrentWatermarkMs() * 1000L : Long.MIN_VALUE;
    OfKey of = new OfKey(state.exists() ? state.get() : null, watermark);
    for (Row row : inOrder(rows)) {
      of.take(row);
    }
    if (rules.forgets) {
      of.fire(watermark);
    } else {
      of.close();
    }
    of.remember(state);
    return of.out.iterator();
  }

  private List<Row> inOrder(Iterator<Row> rows) {
    List<Row> found = new ArrayList<>();
    rows.forEachRemaining(found::add);
    if (found.size() > 1) {
      Comparator<Row> byTime = Comparator.comparingLong(one -> one.getLong(time));
      found.sort(
          byTime
              .thenComparing((one, other) -> Newest.compared(one.get(order), other.get(order)))
              .thenComparingLong(one -> one.getLong(place))
              .thenComparing(one -> (byte[]) one.get(trace), Comparator.nullsFirst(Arrays::compareUnsigned)));
    }
    return found;
  }

  /** The state of a key while a batch changes it, and the rows that this gives. */
  private final class OfKey {
    final List<Row> out = new ArrayList<>();
    private final long watermark;
    private final byte[][] setBy = new byte[rules.timers.size()][];
    private UnsafeRow fields;
    private byte[] key;
    private long latest = Long.MIN_VALUE;
    private boolean closing;
    private final boolean[] over = new boolean[rules.timers.size()];

    OfKey(Row before, long watermark) {
      this.watermark = watermark;
      if (before != null) {
        fields = Packed.row((byte[]) before.get(VALUE), tools.size);
        latest = before.getLong(LATEST);
        key = (byte[]) before.get(KEY);
        for (int timer = 0; rules.traced && timer < setBy.length; timer++) {
          setBy[timer] = (byte[]) before.get(SET_BY + timer);
        }
      }
    }

    void take(Row given) {
      long instant = given.getLong(time);
      fire(rules.forgets ? Math.min(watermark, instant - 1) : instant - 1);
      if (fields != null && next() < 0 && rules.ttl >= 0 && latest + rules.ttl <= instant) {
        fields = null;
        latest = Long.MIN_VALUE;
      }
      UnsafeRow columns = Packed.row((byte[]) given.get(row), tools.columns);
      fields = fields == null ? tools.starts.copy() : fields;
      if (key == null && setBy.length > 0) {
        key = tools.key.apply(columns).getBytes();
      }
      latest = Math.max(latest, instant);
      byte[] by = (byte[]) given.get(trace);
      int found = change(0, columns, null, by, by);
      if (found != MAIN) {
        out.add(RowFactory.create(found, null, 0L, by));
      }
    }

    /** Fires what is due up to an instant, the earliest first, and of one instant in the order of the timers. */
    void fire(long upTo) {
      for (int timer = next(); timer >= 0 && instant(timer) <= upTo; timer = next()) {
        long due = instant(timer);
        fields = fields.copy();
        fields.setNullAt(rules.firstTimer + timer);
        byte[] by = setBy[timer];
        change(1 + timer, Packed.row(key, tools.keys), due, by, named(by, "!" + rules.timers.get(timer) + "@" + due));
      }
    }

    /** At the end of a batch every timer fires; what timers set then does not, for one that sets itself again would never end. */
    void close() {
      closing = true;
      fire(Long.MAX_VALUE);
    }

    /** Changes the state by a step and adds its rows; says whether any is of the main output, or in which place the record is else. */
    private int change(int number, InternalRow given, Long due, byte[] by, byte[] called) {
      UnsafeRow before = fields;
      GenericInternalRow instant = new GenericInternalRow(new Object[] {due});
      InternalRow seen = new JoinedRow(given, before);
      UnsafeRow after = tools.fields[number].apply(due == null ? seen : new JoinedRow(seen, instant)).copy();
      fields = tools.bounds == null ? after : tools.bounds.apply(after).copy();
      for (int timer = 0; timer < setBy.length; timer++) {
        int place = rules.firstTimer + timer;
        boolean same = fields.isNullAt(place) ? before.isNullAt(place) : !before.isNullAt(place) && fields.getLong(place) == before.getLong(place);
        if (!same) {
          setBy[timer] = fields.isNullAt(place) ? null : by;
          over[timer] = closing;
          if (due != null && !fields.isNullAt(place) && fields.getLong(place) <= due) {
            throw new IllegalStateException("streamproof-timer: " + rules.timers.get(timer));
          }
        }
      }
      int found = ABSORBED;
      if (tools.emissions[number] != null) {
        InternalRow was = new GenericInternalRow(due == null ? new Object[] {before} : new Object[] {before, due});
        UnsafeRow lists = tools.emissions[number].apply(new JoinedRow(new JoinedRow(given, fields), was));
        List<Integer> outputs = rules.steps.get(number).outputs();
        int[] counts = new int[rules.firstOverflow];
        for (int emission = 0; emission < outputs.size(); emission++) {
          int output = outputs.get(emission);
          int rowsOf = add(lists, emission, tools.sizes[number][emission], output, due == null, counts[output], called);
          counts[output] += rowsOf;
        }
        for (int output = 0; output < counts.length; output++) {
          found = counts[output] == 0 || found == MAIN ? found : output == MAIN ? MAIN : TAGGED;
        }
      }
      if (tools.lost != null) {
        UnsafeRow lost = tools.lost.apply(after);
        for (int list = 0; list < tools.lostSizes.length; list++) {
          add(lost, list, tools.lostSizes[list], rules.firstOverflow + list, false, 0, called);
        }
      }
      return found;
    }

    /** The rows of a list as rows of an output. */
    private int add(UnsafeRow lists, int place, int size, int output, boolean ofRecord, int before, byte[] called) {
      if (lists.isNullAt(place)) {
        return 0;
      }
      ArrayData rows = lists.getArray(place);
      int count = 0;
      for (int number = 0; number < rows.numElements(); number++) {
        if (rows.isNullAt(number)) {
          continue;
        }
        int further = before + count++;
        byte[] bytes = ((UnsafeRow) rows.getStruct(number, size)).getBytes();
        long records = ofRecord && output == MAIN && further == 0 ? 1L : 0L;
        out.add(RowFactory.create(output, bytes, records, further == 0 ? called : named(called, "#" + further)));
      }
      return count;
    }

    private byte[] named(byte[] called, String end) {
      return called == null ? null : (new String(called, StandardCharsets.UTF_8) + end).getBytes(StandardCharsets.UTF_8);
    }

    private long instant(int timer) {
      return fields.getLong(rules.firstTimer + timer);
    }

    /** The timer that fires next; negative where none is set. */
    private int next() {
      int found = -1;
      for (int timer = 0; fields != null && timer < setBy.length; timer++) {
        if (!over[timer] && !fields.isNullAt(rules.firstTimer + timer) && (found < 0 || instant(timer) < instant(found))) {
          found = timer;
        }
      }
      return found;
    }

    void remember(GroupState<Row> state) {
      int timer = next();
      boolean ends = timer >= 0 || rules.ttl >= 0;
      long wake = timer >= 0 ? instant(timer) : latest + rules.ttl;
      long milliseconds = Math.floorDiv(wake + 999L, 1000L);
      if (rules.forgets && ends && milliseconds <= state.getCurrentWatermarkMs()) {
        state.remove();
        return;
      }
      Object[] kept = new Object[SET_BY + (rules.traced ? setBy.length : 0)];
      kept[VALUE] = fields.getBytes();
      kept[LATEST] = latest;
      kept[KEY] = key;
      System.arraycopy(setBy, 0, kept, SET_BY, kept.length - SET_BY);
      state.update(RowFactory.create(kept));
      if (rules.forgets && ends) {
        state.setTimeoutTimestamp(Math.max(1L, milliseconds - 1)); // Spark's timeout is over when the watermark is above it
      }
    }
  }
}
