// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

/**
 * The meters of a broker at one moment.
 *
 * @param lines in the text format of Prometheus
 */
record Scrape(List<String> lines) {

    /** Reads them from a management port of this machine. */
    static Scrape of(int port) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                .build();
        return new Scrape(HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body()
                .lines()
                .toList());
    }

    /** The lines that begin with a name, or with a name and tags. */
    Stream<String> of(String start) {
        return lines.stream().filter(line -> line.startsWith(start));
    }

    /** The sum of the values of these lines. */
    double sum(String start) {
        return of(start).mapToDouble(Scrape::value).sum();
    }

    /** The value of a line. */
    static double value(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }
}
