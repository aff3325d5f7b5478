// SPDX-License-Identifier: Apache-2.0
package io.smqtt.samples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/** A client of the API within an application, with the cookies of one user. */
final class Api {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpClient http =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
    private final int port;
    private final String user;

    /**
     * Creates a client.
     *
     * @param user the name, whose password is known; empty for no user
     */
    Api(int port, String user) {
        this.port = port;
        this.user = user;
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(request("GET", path).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** A call that needs no token against forged requests. */
    HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
        return http.send(
                request("POST", path)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** A change, with the token against forged requests. */
    HttpResponse<String> delete(String path) throws IOException, InterruptedException {
        HttpRequest.Builder request = request("DELETE", path);
        String token =
                get("/smqtt/api/v5/login").headers().firstValue("Smqtt-Csrf").orElse("");
        if (!token.isEmpty()) {
            request.header(token.split(" ")[0], token.split(" ")[1]);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** The name of the first live event. */
    String firstEvent(String path) throws IOException, InterruptedException {
        HttpResponse<InputStream> stream =
                http.send(request("GET", path).build(), HttpResponse.BodyHandlers.ofInputStream());
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
            lines.readLine(); // the beginning
            lines.readLine();
            return String.valueOf(lines.readLine());
        }
    }

    private HttpRequest.Builder request(String method, String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(PATIENCE)
                .method(method, HttpRequest.BodyPublishers.noBody());
        if (!user.isEmpty()) {
            String login = user + ":" + user + "-password";
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8)));
        }
        return request;
    }
}
