// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Calls the REST API of a running broker. Blocks; for one thread. */
final class BrokerApi {

    /** Where the routes begin. */
    static final String BASE = "/api/v5";

    /** A request line may have 16,384 bytes, of which a proxy in between takes some. */
    static final int MAX_PATH_CHARS = 16_000;

    private static final int PART = 1_000;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final ManagementClient client;

    BrokerApi(ManagementClient client) {
        this.client = client;
    }

    /** How the parts of a list follow each other. */
    enum Paging {
        /** The answer is all of it. */
        NONE,
        /** By the number of the page. */
        PAGE,
        /** By the cursor of the part before. */
        CURSOR
    }

    /**
     * A list to ask for.
     *
     * @param path its path, without paging
     * @param paging how its parts follow each other
     * @param limit the number of entries to stop at; 0 for none
     */
    record Listing(String path, Paging paging, int limit) {}

    /**
     * What was found of a list.
     *
     * @param more whether entries beyond the limit exist
     * @param incomplete the nodes that did not answer
     */
    record Found(boolean more, Set<String> incomplete) {}

    /** {@return a JSON object without fields} */
    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** {@return a JSON array without elements} */
    static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    /**
     * Fills in a path.
     *
     * @param template a path of the API with names in braces
     * @param values what stands in their places, in this order
     */
    static String path(String template, String... values) {
        String path = template;
        for (String value : values) {
            int begin = path.indexOf('{');
            path = path.substring(0, begin) + encoded(value) + path.substring(path.indexOf('}') + 1);
        }
        return path;
    }

    /**
     * Adds a query to a path.
     *
     * @param path a path without one
     * @param parameters the values by name; those that are null are left out
     */
    static String query(String path, Map<String, ? extends @Nullable Object> parameters) {
        StringBuilder all = new StringBuilder(path);
        parameters.forEach((name, value) -> {
            if (value != null) {
                all.append(all.indexOf("?") < 0 ? '?' : '&').append(name).append('=');
                all.append(encoded(value.toString()));
            }
        });
        return all.toString();
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /**
     * Reads.
     *
     * @param path below {@link #BASE}
     * @return the answer
     * @throws RefusedException if the answer is none of success
     * @throws IOException if there is no answer
     */
    JsonNode get(String path) throws IOException {
        return send("GET", path, null);
    }

    /**
     * Sends.
     *
     * @param method of HTTP
     * @param path below {@link #BASE}
     * @param body JSON; null for none
     * @return the answer; an object without fields if it is empty
     * @throws RefusedException if the answer is none of success
     * @throws IOException if there is no answer
     */
    JsonNode send(String method, String path, @Nullable JsonNode body) throws IOException {
        String answer = answer(method, path, "application/json", body);
        if (answer.isBlank()) {
            return object();
        }
        JsonNode json = parsed(answer);
        if (json == null) {
            throw new IOException("its answer is not JSON");
        }
        return json;
    }

    /**
     * Reads a text.
     *
     * @param path below {@link #BASE}
     * @return the answer
     * @throws RefusedException if the answer is none of success
     * @throws IOException if there is no answer
     */
    String text(String path) throws IOException {
        return answer("GET", path, "text/plain", null);
    }

    private String answer(String method, String path, String accept, @Nullable JsonNode body) throws IOException {
        if (path.length() > MAX_PATH_CHARS) {
            throw new RefusedException(
                    0,
                    "an identifier or topic is too long for a request: encoded it may have " + MAX_PATH_CHARS
                            + " characters");
        }
        byte[] bytes = body == null ? null : MAPPER.writeValueAsBytes(body);
        try {
            return client.send(method, BASE + path, accept, bytes);
        } catch (RefusedException e) {
            throw reworded(e);
        }
    }

    /** Problem details have a message for people. */
    private static RefusedException reworded(RefusedException refused) {
        JsonNode problem = parsed(refused.text());
        if (problem == null || !problem.isObject()) {
            boolean unknown = refused.status() == 404;
            return unknown
                    ? new RefusedException(404, "it has no " + BASE + ": it is an older smqtt, or none")
                    : refused;
        }
        String code = problem.path("code").asText("");
        String message =
                problem.path("message").asText(problem.path("broker_status").asText(refused.text()));
        return new RefusedException(refused.status(), message + (code.isEmpty() ? "" : " (" + code + ")"));
    }

    private static @Nullable JsonNode parsed(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            return null; // the caller knows what that means
        }
    }

    /** {@return one JSON value of a text, or null if it is none} */
    static @Nullable JsonNode parsedObject(String text) {
        JsonNode json = parsed(text);
        return json != null && json.isObject() ? json : null;
    }

    /** Takes a part of a list. */
    interface Part {
        /** Takes entries in the order of the list. */
        void take(Iterable<JsonNode> entries);
    }

    /**
     * Reads a list part by part.
     *
     * @param listing the list
     * @param wanted which entries to take
     * @param part takes the entries of each part
     * @return whether something is missing
     * @throws RefusedException if an answer is none of success
     * @throws IOException if there is no answer
     */
    Found list(Listing listing, Predicate<JsonNode> wanted, Part part) throws IOException {
        Set<String> incomplete = new LinkedHashSet<>();
        int most = listing.limit() == 0 ? Integer.MAX_VALUE : listing.limit();
        int taken = 0;
        int page = 1;
        String cursor = "";
        while (true) {
            JsonNode answer = get(query(listing.path(), next(listing.paging(), page, cursor)));
            answer.path("incomplete").forEach(node -> incomplete.add(node.asText()));
            List<JsonNode> entries = new ArrayList<>();
            boolean cut = false;
            for (JsonNode entry : answer.isArray() ? answer : answer.path("data")) {
                if (wanted.test(entry)) {
                    cut = taken == most;
                    if (cut) {
                        break;
                    }
                    entries.add(entry);
                    taken++;
                }
            }
            part.take(entries);
            JsonNode meta = answer.path("meta");
            boolean more =
                    listing.paging() != Paging.NONE && meta.path("hasnext").asBoolean();
            if (cut || !more || taken == most) {
                return new Found(cut || more, incomplete);
            }
            page++;
            cursor = meta.path("cursor").asText("");
        }
    }

    private static Map<String, ?> next(Paging paging, int page, String cursor) {
        Map<String, Object> next = new LinkedHashMap<>();
        if (paging != Paging.NONE) {
            next.put(paging == Paging.PAGE ? "page" : "cursor", paging == Paging.PAGE ? page : cursor);
            next.put("limit", PART);
        }
        return next;
    }
}
