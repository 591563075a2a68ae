package io.streamproof;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;

/**
 * Compares a new Avro schema with the versions of a subject, in both directions; a program of its own, without Spark.
 *
 * <p>Reads {@code {"new": {"schema", "references"}, "versions": [{"schema", "references"}]}} and writes for each version what keeps the new
 * schema from reading it ("backward") and it from reading the new one ("forward"), or {@code {"error"}} where the new one is no schema.
 */
public final class AvroCompatibility {
  private static final ObjectMapper JSON = new ObjectMapper();

  private AvroCompatibility() {}

  public static void main(String[] arguments) throws IOException {
    JsonNode asked = JSON.readTree(System.in);
    Schema fresh;
    try {
      fresh = schema(asked.get("new"));
    } catch (RuntimeException problem) {
      System.out.println(JSON.createObjectNode().put("error", String.valueOf(problem.getMessage())));
      return;
    }
    ObjectNode answer = JSON.createObjectNode();
    ArrayNode versions = answer.putArray("versions");
    for (JsonNode each : asked.get("versions")) {
      ObjectNode version = versions.addObject();
      try {
        Schema old = schema(each);
        put(version.putArray("backward"), fresh, old);
        put(version.putArray("forward"), old, fresh);
      } catch (RuntimeException problem) {
        version.put("error", String.valueOf(problem.getMessage()));
      }
    }
    System.out.println(JSON.writeValueAsString(answer));
  }

  private static Schema schema(JsonNode found) {
    List<String> references = new ArrayList<>();
    found.path("references").forEach(each -> references.add(each.asText()));
    return AvroDifference.parsed(references, found.get("schema").asText());
  }

  private static void put(ArrayNode reasons, Schema reader, Schema writer) {
    for (AvroDifference each : AvroDifference.between(reader, Schema.applyAliases(writer, reader))) {
      reasons.addObject().put("field", each.field()).put("reason", each.reason());
    }
  }
}
