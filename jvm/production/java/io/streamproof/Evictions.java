package io.streamproof;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperator;
import org.apache.spark.sql.execution.streaming.operators.stateful.StreamingDeduplicateWithinWatermarkExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExec;
import org.apache.spark.sql.streaming.GroupStateTimeout;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.collection.Iterator;

/**
 * Tells the tasks of a batch up to which instant what is in their state leaves it, from here to its close: windows, keys that are deduplicated,
 * groups. Spark writes that into the plan, and its state stores do not hear of it.
 */
final class Evictions implements AutoCloseable {
  private static final String PROPERTY = "streamproof.eviction.";

  /** Where Spark keeps the timeout of a group beside its state, in milliseconds; and how it writes that there is none. */
  private static final int TIMEOUT = 1;

  private static final long NO_TIMEOUT = -1;

  private final SparkContext context;
  private final List<String> told = new ArrayList<>();

  Evictions(SparkContext context, SparkPlan plan) {
    this.context = context;
    visit(plan);
  }

  /**
   * What the task knows of an operator: what has an instant up to this one leaves its state.
   *
   * @param ofValue whether the instant stands in the value; else in the key
   * @param column where it stands there
   * @param until the instant, in the unit of the column
   * @param never the value of the column that is no instant: that stays
   */
  record Eviction(boolean ofValue, int column, long until, long never) {
    /** Null outside a batch of ours, or where nothing is known of the operator. */
    static Eviction of(long operator) {
      TaskContext task = TaskContext.get();
      String told = task == null ? null : task.getLocalProperty(PROPERTY + operator);
      if (told == null) {
        return null;
      }
      String[] parts = told.split(" ");
      return new Eviction(Boolean.parseBoolean(parts[0]), Integer.parseInt(parts[1]), Long.parseLong(parts[2]), Long.parseLong(parts[3]));
    }

    private String said() {
      return ofValue + " " + column + " " + until + " " + never;
    }

    /** The instant of what is in the state, {@link Long#MAX_VALUE} where it has none. */
    long instant(UnsafeRow key, UnsafeRow value) {
      UnsafeRow row = ofValue ? value : key;
      if (row.isNullAt(column)) {
        return Long.MAX_VALUE;
      }
      long found = row.getLong(column);
      return found == never ? Long.MAX_VALUE : found;
    }
  }

  @Override
  public void close() {
    told.forEach(key -> context.setLocalProperty(key, null));
  }

  private void visit(SparkPlan plan) {
    if (plan instanceof StateStoreSaveExec windows) {
      int column = endOf(windows);
      if (column >= 0 && gives(windows)) {
        tell(windows, windows.eventTimeWatermarkForEviction(), watermark -> new Eviction(false, column, micros(watermark), Long.MAX_VALUE));
      }
    } else if (plan instanceof StreamingDeduplicateWithinWatermarkExec once) {
      tell(once, once.eventTimeWatermarkForEviction(), watermark -> new Eviction(true, 0, micros(watermark), Long.MAX_VALUE));
    } else if (plan instanceof FlatMapGroupsWithStateExec groups && groups.timeoutConf().equals(GroupStateTimeout.EventTimeTimeout())) {
      // A timeout at the watermark is not over yet.
      tell(groups, groups.eventTimeWatermarkForEviction(), watermark -> new Eviction(true, TIMEOUT, watermark - 1, NO_TIMEOUT));
    }
    for (Iterator<SparkPlan> children = plan.children().iterator(); children.hasNext(); ) {
      visit(children.next());
    }
  }

  private void tell(StatefulOperator operator, Option<Object> watermark, LongFunction<Eviction> evicts) {
    if (operator.stateInfo().isDefined() && watermark.isDefined()) {
      String key = PROPERTY + operator.stateInfo().get().operatorId();
      context.setLocalProperty(key, evicts.apply((long) watermark.get()).said());
      told.add(key);
    }
  }

  private static long micros(long milliseconds) {
    return Math.multiplyExact(milliseconds, 1000L);
  }

  /** Not so in complete mode, which reads all windows to give them. */
  private static boolean gives(StateStoreSaveExec windows) {
    return windows.outputMode().isDefined() && !windows.outputMode().get().equals(OutputMode.Complete());
  }

  /** The one column of the key that Spark holds against the watermark, where that is an instant; else -1. */
  private static int endOf(StateStoreSaveExec windows) {
    int found = -1;
    int column = 0;
    for (Iterator<Attribute> key = windows.keyExpressions().iterator(); key.hasNext(); column++) {
      Attribute attribute = key.next();
      if (attribute.metadata().contains(EventTimeWatermark.delayKey())) {
        if (found >= 0 || !attribute.dataType().equals(DataTypes.TimestampType)) {
          return -1;
        }
        found = column;
      }
    }
    return found;
  }
}
