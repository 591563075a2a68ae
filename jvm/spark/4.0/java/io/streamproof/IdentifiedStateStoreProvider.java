package io.streamproof;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import scala.Option;

/**
 * Spark's RocksDB state stores, which find the files of a committed batch by themselves where their reader does not say which they are.
 *
 * <p>In checkpoint format 2 the names of a batch's files have an id, and the commit log says which. The state reader of Spark 4.0 does not look there.
 * Later ones do. They have this class for a checkpoint that began on 4.0 without state, or in format 1: its offset log names it.
 */
public final class IdentifiedStateStoreProvider extends RocksDBStateStoreProvider {
  /** In the order in which a commit log has their ids; any other operator has one store. */
  private static final List<String> STORES_OF_A_JOIN =
      List.of("left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues", "right-keyWithIndexToValue");

  @Override
  public StateStore getReadStore(long version, Option<String> id) {
    return super.getReadStore(version, id.isDefined() || version <= 0 ? id : committed(version - 1));
  }

  /** The id of this partition's files after a batch; none where the commit log has none, as in checkpoint format 1. */
  private Option<String> committed(long batch) {
    StateStoreId store = stateStoreId();
    Path log = new Path(new Path(store.checkpointRootLocation()).getParent(), "commits/" + batch);
    Configuration conf = SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    try (InputStream in = log.getFileSystem(conf).open(log)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      JsonNode entry = new ObjectMapper().readTree(text.substring(text.indexOf('\n') + 1));
      JsonNode ids = entry.path("stateUniqueIds").path(String.valueOf(store.operatorId())).path(store.partitionId());
      JsonNode id = ids.path(Math.max(0, STORES_OF_A_JOIN.indexOf(store.storeName())));
      return id.isTextual() ? Option.apply(id.textValue()) : Option.empty();
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
  }
}
