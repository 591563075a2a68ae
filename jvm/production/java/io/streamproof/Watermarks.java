package io.streamproof;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import scala.collection.Iterator;

/**
 * The watermarks of an executed batch, in the order of its sources: Spark takes the next watermark from what they have counted, once the batch
 * is over.
 */
final class Watermarks {
  private final List<EventTimeWatermarkExec> operators = new ArrayList<>();

  Watermarks(SparkPlan plan) {
    visit(plan);
  }

  /** Of each source newest event time less delay, milliseconds; null where the batch has read no event time of it. */
  List<Long> reached() {
    List<Long> found = new ArrayList<>();
    for (EventTimeWatermarkExec operator : operators) {
      boolean none = operator.eventTimeStats().value().count() == 0;
      found.add(none ? null : operator.eventTimeStats().value().max() - operator.delayMs());
    }
    return found;
  }

  /** Has a source reach a watermark, as if an event had come that leads to it. */
  void lift(int source, long watermarkMs) {
    EventTimeWatermarkExec operator = operators.get(source);
    operator.eventTimeStats().add(watermarkMs + operator.delayMs());
  }

  private void visit(SparkPlan plan) {
    if (plan instanceof EventTimeWatermarkExec operator) {
      operators.add(operator);
    }
    Iterator<SparkPlan> children = plan.children().iterator();
    while (children.hasNext()) {
      visit(children.next());
    }
  }
}
