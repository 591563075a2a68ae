package io.streamproof;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Schemas by their ids, as Confluent's registry gives them: each asked for once in a process.
 *
 * <p>An id that the registry does not know is an answer; that it does not answer, or refuses us, is none and fails the task.
 */
public final class Registry implements Serializable {
  private static final int ATTEMPTS = 3;
  private static final long PAUSE_MILLISECONDS = 250;
  private static final long UNKNOWN_NANOSECONDS = Duration.ofSeconds(5).toNanos();
  private static final int MANY = 10_000;
  private static final Map<String, Asked> ASKED = new ConcurrentHashMap<>();

  private final String url;
  private final HashMap<String, String> headers;

  /** A schema: AVRO, JSON or PROTOBUF, its text, and the texts of those that it refers to, in the order in which they build on each other. */
  record Found(String type, String text, List<String> references) {}

  private record Asked(Optional<Found> found, long at) {
    boolean counts() {
      return found.isPresent() || System.nanoTime() - at < UNKNOWN_NANOSECONDS;
    }
  }

  private static final class Client {
    static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    static final ObjectMapper JSON = new ObjectMapper();
  }

  Registry(String url, Map<String, String> headers) {
    this.url = url;
    this.headers = new HashMap<>(headers);
  }

  /** Lets go what is remembered in this process; a proof's JVM outlives the processes that it stands for. */
  public static void forget() {
    ASKED.clear();
  }

  /** The schema of an id; empty where the registry knows none, which is believed for five seconds. */
  Optional<Found> byId(int id) {
    String key = url + " " + id;
    Asked asked = ASKED.get(key);
    if (asked == null || !asked.counts()) {
      asked = new Asked(get("/schemas/ids/" + id, "schema " + id).map(answer -> found(answer)), System.nanoTime());
      if (ASKED.size() > MANY) {
        ASKED.clear(); // of a topic that is full of bytes of others
      }
      ASKED.put(key, asked);
    }
    return asked.found();
  }

  private Found found(JsonNode answer) {
    List<String> references = new ArrayList<>();
    collect(answer, references);
    if (answer.path("schema").asText().isEmpty()) {
      throw new RegistryFailure(url + " answers as no schema registry does: without a schema");
    }
    return new Found(answer.path("schemaType").asText("AVRO"), answer.path("schema").asText(), references);
  }

  private void collect(JsonNode schema, List<String> references) {
    for (JsonNode each : schema.path("references")) {
      String subject = URLEncoder.encode(each.path("subject").asText(), StandardCharsets.UTF_8).replace("+", "%20");
      String what = "version " + each.path("version").asInt() + " of " + each.path("subject").asText();
      JsonNode referred = get("/subjects/" + subject + "/versions/" + each.path("version").asInt(), what)
          .orElseThrow(() -> new RegistryFailure(url + " does not know " + what + ", which a schema of it refers to"));
      collect(referred, references);
      references.add(referred.path("schema").asText());
    }
  }

  private Optional<JsonNode> get(String path, String what) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(10));
    headers.forEach(request::header);
    RegistryFailure failure = null;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        HttpResponse<String> answer = Client.HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() == 200) {
          return Optional.of(Client.JSON.readTree(answer.body()));
        }
        if (answer.statusCode() == 404 && isFromRegistry(answer.body())) {
          return Optional.empty();
        }
        String said = url + " answers " + answer.statusCode() + " to the question for " + what;
        if (answer.statusCode() < 500 && answer.statusCode() != 429) {
          throw new RegistryFailure(said);
        }
        failure = RegistryFailure.silent(said);
      } catch (IOException problem) {
        failure = RegistryFailure.silent(url + " does not answer the question for " + what);
      } catch (InterruptedException problem) {
        Thread.currentThread().interrupt();
        throw new RegistryFailure("the question for " + what + " was interrupted");
      }
      pause(attempt);
    }
    throw failure;
  }

  /** Whether a 404 comes from the registry and not from whatever else answers at a wrong address: it carries an error code. */
  private static boolean isFromRegistry(String body) {
    try {
      return Client.JSON.readTree(body).path("error_code").asInt() / 100 == 404;
    } catch (IOException problem) {
      return false;
    }
  }

  private static void pause(int attempt) {
    try {
      Thread.sleep(PAUSE_MILLISECONDS * attempt);
    } catch (InterruptedException problem) {
      Thread.currentThread().interrupt();
      throw new RegistryFailure("waiting for an answer was interrupted");
    }
  }

  @Override
  public String toString() {
    return "registry";
  }
}
