// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** A client of the REST API of a real broker. */
final class RestApi {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final String base;
    private final @Nullable String authorization;

    private RestApi(String base, @Nullable String authorization) {
        this.base = base;
        this.authorization = authorization;
    }

    /** A client that is not logged in. */
    static RestApi of(BrokerProcess broker) {
        return new RestApi("http://127.0.0.1:" + broker.port("management") + "/api/v5", null);
    }

    /** The same with a token of the broker, or of a login. */
    RestApi token(String token) {
        return new RestApi(base, "Bearer " + token.strip());
    }

    /** The same with an API key. */
    RestApi key(String key, String secret) {
        return new RestApi(base, basic(key, secret));
    }

    /** The header Authorization of an API key. */
    static String basic(String key, String secret) {
        byte[] pair = (key + ":" + secret).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(pair);
    }

    /**
     * An answer.
     *
     * @param status the status
     * @param text the content
     * @param took the time from the request to the end of the content
     */
    record Reply(int status, String text, Duration took) {

        JsonNode json() {
            try {
                return JSON.readTree(text);
            } catch (IOException e) {
                throw new AssertionError(text, e);
            }
        }
    }

    Reply get(String path) {
        return send("GET", path, null);
    }

    Reply delete(String path) {
        return send("DELETE", path, null);
    }

    Reply post(String path, String body) {
        return send("POST", path, body);
    }

    Reply send(String method, String path, @Nullable String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .timeout(PATIENCE)
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        long begin = System.nanoTime();
        try {
            HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Reply(answer.statusCode(), answer.body(), Duration.ofNanos(System.nanoTime() - begin));
        } catch (IOException e) {
            throw new AssertionError(method + " " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
