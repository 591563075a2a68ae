package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

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
        .withName("divert_" + door);
  }

  public Column tally(String door, Column hash, Column records, Column floats, int columns) {
    return new Tally(door, columns, reports).column(hash, records, floats);
  }

  /** The reports of a batch as a JSON list, one entry per task and door; earlier ones are forgotten. */
  public String drain(long batch) throws JsonProcessingException {
    List<Report> taken = reports.drain(batch);
    return JSON.writeValueAsString(taken);
  }
}
