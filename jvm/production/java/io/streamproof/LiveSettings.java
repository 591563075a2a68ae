package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;

/** Settings where they are in force, whoever set them (R27). */
public final class LiveSettings {
  private static final ObjectMapper JSON = new ObjectMapper();

  private LiveSettings() {}

  /**
   * By key the value in force, as JSON; what nobody has set is left out.
   *
   * @param keys by key where it is in force, as JSON: "session", "parser" (the session of this thread), "hadoop", "process"
   */
  public static String of(SparkSession spark, String keys) throws JsonProcessingException {
    Map<String, String> asked = JSON.readValue(keys, new TypeReference<Map<String, String>>() {});
    Map<String, String> found = new TreeMap<>();
    for (Map.Entry<String, String> each : asked.entrySet()) {
      String value = valueOf(spark, each.getKey(), each.getValue());
      if (value != null) {
        found.put(each.getKey(), value);
      }
    }
    return JSON.writeValueAsString(found);
  }

  private static String valueOf(SparkSession spark, String key, String where) {
    return switch (where) {
      case "session" -> changed(spark.sessionState().conf(), key);
      case "parser" -> changed(SQLConf.get(), key);
      case "hadoop" -> spark.sessionState().newHadoopConf().get(key);
      case "process" -> spark.sparkContext().getConf().get(key, null);
      default -> throw new IllegalArgumentException("streamproof: no settings are looked for in " + where);
    };
  }

  /** By the configuration, which knows the older names of a setting, too. One that this Spark does not know does nothing. */
  private static String changed(SQLConf conf, String key) {
    ConfigEntry<?> known = ConfigEntry.findEntry(key);
    if (known == null) {
      return null;
    }
    String value = conf.getConfString(key);
    boolean changed = conf.contains(key) || !value.equals(known.defaultValueString());
    return changed ? value : null;
  }
}
