package io.streamproof;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.Iterator;

/**
 * Tells the tasks of a batch up to which end its windows leave the state, from here to its close. Spark writes that into the plan, and its state
 * stores do not hear of it.
 */
final class Evictions implements AutoCloseable {
  private static final String PROPERTY = "streamproof.eviction.";

  private final SparkContext context;
  private final List<String> told = new ArrayList<>();

  Evictions(SparkContext context, SparkPlan plan) {
    this.context = context;
    visit(plan);
  }

  /**
   * What the task knows of an operator: windows that end at or before an instant leave its state.
   *
   * @param column of the key, where the end of the window stands, in microseconds
   * @param until the instant, microseconds
   */
  record Eviction(int column, long until) {
    /** Null outside a batch of ours, or where the key of the operator has no end of a window. */
    static Eviction of(long operator) {
      TaskContext task = TaskContext.get();
      String told = task == null ? null : task.getLocalProperty(PROPERTY + operator);
      if (told == null) {
        return null;
      }
      String[] parts = told.split(" ");
      return new Eviction(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
    }
  }

  @Override
  public void close() {
    told.forEach(key -> context.setLocalProperty(key, null));
  }

  private void visit(SparkPlan plan) {
    if (plan instanceof StateStoreSaveExec windows && evicts(windows)) {
      int column = endOf(windows);
      if (column >= 0) {
        String key = PROPERTY + windows.stateInfo().get().operatorId();
        long until = Math.multiplyExact((long) windows.eventTimeWatermarkForEviction().get(), 1000L);
        context.setLocalProperty(key, column + " " + until);
        told.add(key);
      }
    }
    for (Iterator<SparkPlan> children = plan.children().iterator(); children.hasNext(); ) {
      visit(children.next());
    }
  }

  /** Not so in complete mode, which reads all windows to give them. */
  private static boolean evicts(StateStoreSaveExec windows) {
    boolean known = windows.stateInfo().isDefined() && windows.eventTimeWatermarkForEviction().isDefined();
    return known && windows.outputMode().isDefined() && !windows.outputMode().get().equals(OutputMode.Complete());
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
