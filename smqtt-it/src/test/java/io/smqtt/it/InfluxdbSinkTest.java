// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.http.InfluxSinkFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/**
 * The contract of the sink {@code influxdb} with a real InfluxDB 1, and the types of its values. InfluxDB sorts points by their time, and a repeated
 * point replaces the first, so that neither order nor repetitions can be seen here.
 */
class InfluxdbSinkTest extends SinkContract {

    @TempDir
    static Path folder;

    private static InfluxdbServer server;
    private static int measurements;

    private final String measurement = "m" + measurements++;
    private boolean paused;

    @BeforeAll
    static void start() throws Exception {
        server = InfluxdbServer.start(folder);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @AfterEach
    void resume() {
        answerAgain();
    }

    private Sink influxdb(String... pairs) {
        String[] all = Stream.concat(
                        Stream.of(
                                "url",
                                "http://127.0.0.1:" + server.port(),
                                "version",
                                "v1",
                                "measurement",
                                measurement),
                        Stream.of(pairs))
                .toArray(String[]::new);
        return sink(new InfluxSinkFactory(), message -> Mono.empty(), all);
    }

    @Override
    protected Sink open() {
        return influxdb("database", InfluxdbServer.DATABASE, "fields.n", "${n}", "timestamp", "${n}", "gzip", "true");
    }

    @Override
    protected List<Integer> received() throws Exception {
        return values("n").map(Integer::valueOf).toList();
    }

    /** The values of a field in the order of their times. */
    private Stream<String> values(String field) throws Exception {
        return server.query("SELECT " + field + " FROM " + measurement)
                .lines()
                .skip(1) // name,tags,time,n
                .map(line -> line.split(",", -1)[3]);
    }

    @Override
    protected boolean hang() {
        server.pause();
        paused = true;
        return true;
    }

    @Override
    protected void answerAgain() {
        if (paused) {
            paused = false;
            server.resume();
        }
    }

    private static SinkRecord row(Object value) {
        return new SinkRecord(Map.of("v", value, "tag", "a b,c=d"), row(1).origin());
    }

    @Test
    void valuesKeepTheirTypesAndTagsTheirCharacters() throws Exception {
        try (Sink sink = influxdb(
                "database", InfluxdbServer.DATABASE, "tags.t", "${tag}", "fields.v", "${v}", "timestamp", "1")) {
            assertThat(sink.send(List.of(row("a \\ \"b\", c"))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
        assertThat(server.query("SELECT v FROM " + measurement + " GROUP BY t"))
                .contains(measurement + ",\"t=a\\ b\\,c\\=d\",1000000,\"a \\ \"\"b\"\", c\"");
    }

    @Test
    void pointOfAnotherTypeIsRefused() {
        try (Sink sink = influxdb("database", InfluxdbServer.DATABASE, "fields.v", "${v}")) {
            assertThat(sink.send(List.of(row(1L))).block(PATIENCE)).isEqualTo(BatchResult.DONE);

            assertThatThrownBy(() -> sink.send(List.of(row("text"))).block(PATIENCE))
                    .isInstanceOfSatisfying(
                            SinkException.class,
                            error -> assertThat(error.isRecoverable()).isFalse())
                    .hasMessageStartingWith("status 400: {\"error\":\"partial write: field type conflict:");
        }
    }

    @Test
    void databaseThatIsMissingIsRefused() {
        try (Sink sink = influxdb("database", "none", "fields.v", "${v}")) {
            assertThatThrownBy(() -> sink.send(List.of(row(1L))).block(PATIENCE))
                    .isInstanceOf(SinkException.class)
                    .hasMessage("status 404: {\"error\":\"database not found: \\\"none\\\"\"}");
        }
    }
}
