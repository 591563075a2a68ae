package io.streamproof.proof;

import java.lang.reflect.InvocationTargetException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * Spark's own source of files, which takes in each batch as many files as it is told. So a run without a fault reads the same files in
 * the same batches as a recovered one (R24), whose batches are of different sizes.
 *
 * <p>Options: {@code streamproofFormat} is the format of the files; {@code streamproofCut.QUERY.SOURCE} says how many files each batch takes, such
 * as "2,2,6", where the checkpoint is a folder called QUERY. A source without that option takes what there is.
 *
 * <p>Spark's source has another package since 4.1, and takes another class of session since 4.0. So it is looked up by name, and called by
 * interfaces that have stayed the same since 3.5.
 *
 * <p>It is a {@link FileFormat} for one thing alone: rows of such a source have the column {@code _metadata}.
 */
public final class CutFiles implements StreamSourceProvider, FileFormat {
  private static final String FORMAT = "streamproofFormat";
  private static final String CUT = "streamproofCut";
  private static final String[] SOURCES = {
    "org.apache.spark.sql.execution.streaming.runtime.FileStreamSource", // since 4.1
    "org.apache.spark.sql.execution.streaming.FileStreamSource"
  };

  @Override
  public Tuple2<String, StructType> sourceSchema(
      SQLContext context, Option<StructType> schema, String provider, Map<String, String> options) {
    return new Tuple2<>("FileSource[" + options.apply("path") + "]", schema.get());
  }

  @Override
  public Source createSource(
      SQLContext context, String metadataPath, Option<StructType> schema, String provider, Map<String, String> options) {
    Path source = new Path(metadataPath); // .../QUERY/sources/0
    String query = source.getParent().getParent().getName();
    Option<String> cut = options.get(CUT + "." + query + "." + source.getName());
    Source files =
        sourceOfSpark(
            context.sparkSession(), options.apply("path"), options.apply(FORMAT), schema.get(), Nil$.MODULE$, metadataPath, options);
    return new CutSource(files, cut.isDefined() ? cut.get().split(",") : null);
  }

  private static Source sourceOfSpark(Object... arguments) {
    try {
      return (Source) sourceClass().getConstructors()[0].newInstance(arguments);
    } catch (InvocationTargetException problem) {
      if (problem.getCause() instanceof RuntimeException) {
        throw (RuntimeException) problem.getCause();
      }
      throw new IllegalStateException(problem.getCause());
    } catch (ReflectiveOperationException problem) {
      throw new IllegalStateException(problem);
    }
  }

  private static Class<?> sourceClass() throws ClassNotFoundException {
    for (String name : SOURCES) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException elsewhere) {
        // another version of Spark
      }
    }
    throw new ClassNotFoundException(String.join(", ", SOURCES));
  }

  @Override
  public Option<StructType> inferSchema(SparkSession session, Map<String, String> options, Seq<FileStatus> files) {
    return Option.empty();
  }

  @Override
  public OutputWriterFactory prepareWrite(SparkSession session, Job job, Map<String, String> options, StructType schema) {
    throw new UnsupportedOperationException("it only reads streams");
  }

  private static final class CutSource implements Source, SupportsTriggerAvailableNow {
    private final Source files;
    private final SupportsTriggerAvailableNow admission;
    private final String[] cut;
    private int asked;

    CutSource(Source files, String[] cut) {
      this.files = files;
      this.admission = (SupportsTriggerAvailableNow) files;
      this.cut = cut;
    }

    /** Spark asks once for each batch that it plans, and once more to learn that there is nothing left. */
    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
      if (cut == null) {
        return admission.latestOffset(start, limit);
      }
      int count = asked < cut.length ? Integer.parseInt(cut[asked]) : 0;
      asked++;
      return admission.latestOffset(start, ReadLimit.maxFiles(count));
    }

    @Override
    public StructType schema() {
      return files.schema();
    }

    @Override
    public Option<org.apache.spark.sql.execution.streaming.Offset> getOffset() {
      return files.getOffset();
    }

    @Override
    public Dataset<Row> getBatch(
        Option<org.apache.spark.sql.execution.streaming.Offset> start, org.apache.spark.sql.execution.streaming.Offset end) {
      return files.getBatch(start, end);
    }

    @Override
    public Offset initialOffset() {
      return files.initialOffset();
    }

    @Override
    public Offset deserializeOffset(String json) {
      return files.deserializeOffset(json);
    }

    @Override
    public void commit(Offset end) {
      files.commit(end);
    }

    @Override
    public void commit(org.apache.spark.sql.execution.streaming.Offset end) {
      files.commit(end);
    }

    @Override
    public void stop() {
      files.stop();
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
      return admission.getDefaultReadLimit();
    }

    @Override
    public Offset reportLatestOffset() {
      return admission.reportLatestOffset();
    }

    @Override
    public void prepareForTriggerAvailableNow() {
      admission.prepareForTriggerAvailableNow();
    }

    @Override
    public String toString() {
      return files.toString();
    }
  }
}
