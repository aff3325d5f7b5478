// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.sink.redis.RedisSinkFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** The contract of the sink {@code redis} with a real server, and the errors that the server has. */
class RedisSinkTest extends SinkContract {

    @TempDir
    static Path folder;

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.stored(folder);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.loadAll("FLUSHALL\n");
    }

    @AfterEach
    void resume() {
        answerAgain();
    }

    private static Sink redis(int port, String mode, String command) {
        return sink(
                new RedisSinkFactory(),
                message -> Mono.empty(),
                "url",
                "redis://127.0.0.1:" + port,
                "mode",
                mode,
                "command",
                command);
    }

    @Override
    protected Sink open() {
        return redis(server.port(), "single", "RPUSH rows ${n}");
    }

    @Override
    protected List<Integer> received() {
        return server.load("LRANGE rows 0 -1\n")
                .lines()
                .filter(line -> !line.isBlank())
                .map(Integer::valueOf)
                .toList();
    }

    @Override
    protected boolean hang() {
        server.loadAll("CLIENT PAUSE 60000 WRITE\n");
        return true;
    }

    @Override
    protected void answerAgain() {
        server.loadAll("CLIENT UNPAUSE\n");
    }

    @Test
    void commandThatTheServerRefusesIsAlone() {
        server.loadAll("SET taken text\n");
        List<SinkRecord> batch = IntStream.range(0, 10)
                .mapToObj(n -> new SinkRecord(Map.of("n", (long) n, "key", n == 4 ? "taken" : "rows"), row(n).origin()))
                .toList();
        try (Sink sink = redis(server.port(), "single", "RPUSH ${key} ${n}")) {
            BatchResult result = sink.send(batch).block(PATIENCE);

            assertThat(result.refusals()).hasSize(1);
            assertThat(result.refusals().get(0).index()).isEqualTo(4);
            assertThat(result.refusals().get(0).recoverable()).isFalse();
            assertThat(result.refusals().get(0).reason()).startsWith("WRONGTYPE");
        }
        assertThat(received()).containsExactly(0, 1, 2, 3, 5, 6, 7, 8, 9);
    }

    @ParameterizedTest
    @CsvSource({
        "CONFIG SET maxmemory 1, CONFIG SET maxmemory 0, OOM",
        "REPLICAOF 127.0.0.1 1, REPLICAOF NO ONE, READONLY",
    })
    void whatIsWrongWithTheServerMayPass(String begin, String end, String code) {
        try (Sink sink = open()) {
            server.loadAll(begin + "\n");
            try {
                BatchResult result = sink.send(List.of(row(1), row(2))).block(PATIENCE);
                assertThat(result.refusals()).hasSize(2).allSatisfy(refusal -> {
                    assertThat(refusal.recoverable()).isTrue();
                    assertThat(refusal.reason()).startsWith(code);
                });
            } finally {
                server.loadAll(end + "\n");
            }
            assertThat(sink.send(List.of(row(1), row(2))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
        assertThat(received()).containsExactly(1, 2);
    }

    @Test
    void serverThatIsKilledIsUsedAgain() {
        try (Sink sink = open()) {
            assertThat(sink.send(List.of(row(1))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
            server.kill();
            try {
                assertThat(isToBeSentAgain(sink)).isTrue();
            } finally {
                server.startAgain();
            }
            await().atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> sink.send(List.of(row(2))).block(PATIENCE).equals(BatchResult.DONE));
        }
        assertThat(received()).startsWith(1).contains(2);
    }

    /** A connection whose end is not noticed yet takes the command, which is then refused alone. */
    private static boolean isToBeSentAgain(Sink sink) {
        try {
            return sink.send(List.of(row(2))).block(PATIENCE).refusals().stream()
                    .anyMatch(Refusal::recoverable);
        } catch (SinkException e) {
            return e.isRecoverable();
        }
    }

    @Test
    void aClusterGetsEachCommandWhereItsKeyIs() throws Exception {
        try (RedisServer cluster = RedisServer.cluster(Files.createDirectory(folder.resolve("cluster")));
                Sink sink = redis(cluster.port(), "cluster", "SET row:${n} ${name}")) {
            sink.check().block(PATIENCE);
            List<SinkRecord> batch =
                    IntStream.range(0, 50).mapToObj(SinkContract::row).toList();

            assertThat(sink.send(batch).block(PATIENCE)).isEqualTo(BatchResult.DONE);
            assertThat(cluster.load("DBSIZE\n")).contains("50");
        }
    }
}
