package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.DeduplicateWithinWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import scala.jdk.javaapi.CollectionConverters;

/** Makes the typed user-defined functions of one query and hands their reports to the driver, a batch at a time. */
public final class Doors {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String checkpoint;
  private final String run;
  private final Reports reports = new Reports();

  public Doors(SparkSession spark, String checkpoint, String run) {
    this.checkpoint = checkpoint;
    this.run = run;
    spark.sparkContext().register(reports, "streamproof-" + run);
  }

  public Column lateBefore(long windowMicros) {
    return new LateBefore(checkpoint, windowMicros).column();
  }

  public Column batchNumber() {
    return new BatchNumber().column();
  }

  public UserDefinedFunction batchClock() {
    return functions.udf(new BatchClock(checkpoint), DataTypes.LongType).asNondeterministic().withName("batch_clock");
  }

  public UserDefinedFunction divert(String door, String directory) {
    return functions
        .udf(new Divert(door, directory, run, reports), DataTypes.BooleanType)
        .asNondeterministic()
        .withName("divert_" + Execution.plain(door));
  }

  /**
   * What stands on both sides of a deduplication, so that the rows that it drops are written below the directory.
   *
   * @param columns what is written of a row, as the JSON of its type
   * @param options how that is written, as {@code to_json} takes them
   */
  public Dropped dropped(String door, String directory, String reason, String columns, Map<String, String> options, String zone) {
    return new Dropped(door, directory, run, reports, reason, columns, options, zone);
  }

  /** The columns that a deduplication tells rows apart by, in its order: its rows must be partitioned by them in that order. */
  public static List<String> keyOf(Dataset<?> deduplicated) {
    LogicalPlan plan = deduplicated.queryExecution().analyzed();
    if (!(plan instanceof DeduplicateWithinWatermark once)) {
      throw new IllegalStateException("streamproof: no deduplication: " + plan.nodeName());
    }
    return CollectionConverters.asJava(once.keys()).stream().map(Attribute::name).toList();
  }

  /** How often each door occurs in an executed plan, as a JSON object of {@code door:NAME}. */
  public static String inPlan(SparkPlan plan) throws JsonProcessingException {
    try (Execution execution = new Execution(plan)) {
      return JSON.writeValueAsString(execution.doors());
    }
  }

  public Column tally(String door, Column hash, Column records, Column floats, int columns) {
    return new Tally(door, columns, reports).column(hash, records, floats);
  }

  /** False, after having counted a row that leaves for one reason and of which nothing is written, see {@link CountedOut}. */
  public Column countedOut(String door, String reason) {
    return new CountedOut(door, reason, reports).column();
  }

  /** What counts the rows that pass by their key, of which it is given the hash (bigint), see {@link HotKeys}. */
  public Column hotKeys(String door, Column hash) {
    return new HotKeys(door, reports).column(hash);
  }

  /** What counts the rows that pass by their age, of which it is given the instant (bigint, microseconds), see {@link Ages}. */
  public Column ages(String door, Column instant) {
    return new Ages(door, checkpoint, reports).column(instant);
  }

  /** The reports of a batch as a JSON list, one entry per task and door; earlier ones are forgotten. */
  public Object drain(long batch) throws JsonProcessingException {
    List<Report> taken = reports.drain(batch);
    return LongText.of(JSON.writeValueAsString(taken));
  }
}
