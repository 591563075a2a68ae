package io.streamproof;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What a job declares of the state of a key, as {@link Keyed} runs it.
 *
 * <p>Expressions come analysed, as projections of relations without a row: a column for each field of the state, or for each emission a list of
 * rows. A row's own are over its columns and the state; a timer's over the columns of the key, the state, and the timer's instant. Emissions see
 * the state as it has become, and then what it was before as a struct.
 */
public final class KeyedRules implements Serializable {
  final List<Step> steps = new ArrayList<>();
  final List<String> timers;
  final int firstTimer;
  final int firstOverflow;
  final long ttl;
  final boolean forgets;
  final boolean traced;
  private final Accumulator.Template starts;
  private final Accumulator.Template key;
  private final Accumulator.Template bounds;
  private final Accumulator.Template lost;

  /**
   * @param starts the fields of a key without a state
   * @param key the columns of the key, of a row
   * @param bounds over the fields, these as they are bounded; null where none is
   * @param lost over the fields, for each bounded one the list of rows of what it has lost
   * @param timers their names: the last fields
   * @param firstOverflow the number of the output of what the first bounded field loses
   * @param ttl how long a key is remembered after the latest event time of its rows, microseconds; negative where for ever
   * @param forgets false in a batch, which has no watermark
   * @param traced whether rows have a trace
   */
  public KeyedRules(
      Dataset<?> starts,
      Dataset<?> key,
      Dataset<?> bounds,
      Dataset<?> lost,
      List<String> timers,
      int firstOverflow,
      long ttl,
      boolean forgets,
      boolean traced) {
    this.starts = new Accumulator.Template(starts);
    this.key = new Accumulator.Template(key);
    this.bounds = bounds == null ? null : new Accumulator.Template(bounds);
    this.lost = bounds == null ? null : new Accumulator.Template(lost);
    this.timers = new ArrayList<>(timers);
    this.firstTimer = this.starts.made.size() - timers.size();
    this.firstOverflow = firstOverflow;
    this.ttl = ttl;
    this.forgets = forgets;
    this.traced = traced;
  }

  /** What happens with a row, added first, and with each timer in their order; `outputs` has the number of the output of each emission. */
  public void add(Dataset<?> fields, Dataset<?> emissions, List<Integer> outputs) {
    steps.add(new Step(new Accumulator.Template(fields), outputs.isEmpty() ? null : new Accumulator.Template(emissions), new ArrayList<>(outputs)));
  }

  /** The expressions, compiled. */
  Compiled compiled() {
    return new Compiled(this);
  }

  record Step(Accumulator.Template fields, Accumulator.Template emissions, List<Integer> outputs) implements Serializable {}

  /** The compiled expressions; each task has its own. */
  static final class Compiled {
    final UnsafeRow starts;
    final UnsafeProjection key;
    final UnsafeProjection bounds;
    final UnsafeProjection lost;
    final UnsafeProjection[] fields;
    final UnsafeProjection[] emissions;
    final int[][] sizes;
    final int[] lostSizes;
    final int size;
    final int columns;
    final int keys;

    private Compiled(KeyedRules rules) {
      starts = compiled(rules.starts).apply(InternalRow.empty()).copy();
      size = rules.starts.made.size();
      key = compiled(rules.key);
      keys = rules.key.made.size();
      columns = rules.key.columns.size();
      bounds = rules.bounds == null ? null : compiled(rules.bounds);
      lost = rules.bounds == null ? null : compiled(rules.lost);
      int count = rules.steps.size();
      fields = new UnsafeProjection[count];
      emissions = new UnsafeProjection[count];
      sizes = new int[count][];
      for (int number = 0; number < count; number++) {
        Step step = rules.steps.get(number);
        fields[number] = compiled(step.fields());
        if (step.emissions() != null) {
          emissions[number] = compiled(step.emissions());
          sizes[number] = sizes(step.emissions());
        }
      }
      lostSizes = rules.bounds == null ? new int[0] : sizes(rules.lost);
    }

    private static UnsafeProjection compiled(Accumulator.Template template) {
      return UnsafeProjection.create(
          CollectionConverters.asScala(template.made).toSeq(), CollectionConverters.asScala(template.columns).toSeq());
    }

    /** How many columns the rows in each list have. */
    private static int[] sizes(Accumulator.Template lists) {
      return lists.made.stream()
          .mapToInt(one -> ((StructType) ((ArrayType) one.dataType()).elementType()).size())
          .toArray();
    }
  }
}
