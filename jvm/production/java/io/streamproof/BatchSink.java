package io.streamproof;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Seq;

/**
 * The sink of a streaming query whose micro-batches a function of the driver stages and publishes, in the query's own thread.
 *
 * <p>Spark's {@code foreachBatch} does the same with a data set that is made of the batch's rows: that is a second plan for every
 * batch and one more copy of every row. Here the rows are written by the batch's own plan, as Spark's file sink does it.
 */
public final class BatchSink implements StreamSinkProvider {
  private static final String FUNCTION = "function";
  private static final Map<String, BatchFunction> FUNCTIONS = new ConcurrentHashMap<>();

  /** Keeps a function until the query that names it in its option "function" starts. */
  public static void register(String name, BatchFunction function) {
    FUNCTIONS.put(name, function);
  }

  @Override
  public Sink createSink(
      SQLContext context, scala.collection.immutable.Map<String, String> options, Seq<String> partitions, OutputMode mode) {
    String name = options.apply(FUNCTION);
    BatchFunction function = Objects.requireNonNull(FUNCTIONS.remove(name), "streamproof: no function " + name + " was registered");
    return new Sink() {
      @Override
      public void addBatch(long batch, Dataset<Row> rows) {
        function.call(new BatchRows(rows), batch);
      }

      @Override
      public String toString() {
        return "Streamproof";
      }
    };
  }
}
