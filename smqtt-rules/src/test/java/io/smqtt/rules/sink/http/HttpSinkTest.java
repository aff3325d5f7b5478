// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpSinkTest extends SinkContract {

    private static final Pattern NUMBER = Pattern.compile("\"n\":(\\d+)");

    private final HttpPeer peer = peer();

    @TempDir
    Path folder;

    private static HttpPeer peer() {
        try {
            return new HttpPeer();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @AfterEach
    void closePeer() {
        peer.close();
    }

    private Sink http(String... pairs) {
        String[] all = new String[pairs.length + 2];
        all[0] = "url";
        all[1] = peer.url() + "/in?x=1";
        System.arraycopy(pairs, 0, all, 2, pairs.length);
        return sink(new HttpSinkFactory(), message -> reactor.core.publisher.Mono.empty(), all);
    }

    @Override
    protected Sink open() {
        return http();
    }

    @Override
    protected List<Integer> received() {
        return peer.requests.stream()
                .flatMap(request -> NUMBER.matcher(request.body()).results())
                .map(found -> Integer.valueOf(found.group(1)))
                .toList();
    }

    @Override
    protected boolean hang() {
        peer.hang();
        return true;
    }

    @Override
    protected void answerAgain() {
        peer.answerAgain();
    }

    @Test
    void bodyHeadersAndUrlAreTemplates() {
        try (Sink sink = sink(
                new HttpSinkFactory(),
                message -> reactor.core.publisher.Mono.empty(),
                "url",
                peer.url() + "/${name}?n=${n}",
                "method",
                "put",
                "headers.X-Name",
                "<${name}>",
                "body",
                "{\"it\": ${name}}")) {
            sink.send(List.of(row(4))).block(PATIENCE);
        }

        HttpPeer.Got got = peer.requests.get(0);
        assertThat(got.method()).isEqualTo("PUT");
        assertThat(got.uri()).isEqualTo("/row?n=4");
        assertThat(got.body()).isEqualTo("{\"it\": \"row\"}");
        assertThat(got.headers().getFirst("x-name")).isEqualTo("<row>");
        assertThat(got.headers().getFirst("content-type")).isEqualTo("application/json");
    }

    @Test
    void batchIsOneSignedAndCompressedRequest() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "s3cret\n");
        try (Sink sink = http("batch", "array", "gzip", "true", "signature-secret-file", secret.toString())) {
            sink.send(List.of(row(1), row(2))).block(PATIENCE);
        }

        assertThat(peer.requests).hasSize(1);
        HttpPeer.Got got = peer.requests.get(0);
        assertThat(got.body()).startsWith("[{").contains("},{").endsWith("}]");
        assertThat(received()).containsExactly(1, 2);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec("s3cret".getBytes(UTF_8), "HmacSHA256"));
        mac.update((got.headers().getFirst("x-smqtt-timestamp") + ".").getBytes(UTF_8));
        assertThat(got.headers().getFirst("x-smqtt-signature"))
                .isEqualTo("sha256=" + HexFormat.of().formatHex(mac.doFinal(got.raw())));
    }

    @ParameterizedTest
    @CsvSource({"400, false", "404, false", "408, true", "429, true", "500, true", "503, true", "302, false"})
    void statusDecidesWhetherAFailureMayPass(int status, boolean passes) {
        peer.status(status);
        try (Sink array = http("batch", "array")) {
            assertThatThrownBy(() -> array.send(List.of(row(1), row(2))).block(PATIENCE))
                    .isInstanceOfSatisfying(SinkException.class, error -> {
                        assertThat(error.isRecoverable()).isEqualTo(passes);
                        assertThat(error).hasMessageStartingWith("status " + status);
                    });
        }
        try (Sink single = http()) {
            assertThat(single.maxBatch()).isEqualTo(1);
            assertThatThrownBy(() -> single.send(List.of(row(1))).block(PATIENCE))
                    .isInstanceOfSatisfying(
                            SinkException.class,
                            error -> assertThat(error.isRecoverable()).isEqualTo(passes));
        }
    }

    @ParameterizedTest
    @CsvSource({"200, true", "400, false", "503, false"})
    void answerWithoutAnEndIsJudgedByItsStatus(int status, boolean taken) {
        peer.status(status);
        peer.endless();
        try (Sink sink = http()) {
            if (taken) {
                assertThat(sink.send(List.of(row(1))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
            } else {
                assertThatThrownBy(() -> sink.send(List.of(row(1))).block(PATIENCE))
                        .isInstanceOf(SinkException.class)
                        .hasMessageStartingWith("status " + status);
            }
        }
        assertThat(peer.bodyBytes).isLessThan(HttpPeer.MOST_BODY_BYTES / 2);
    }

    @Test
    void serverThatIsAwayMayComeBack() {
        peer.close();
        try (Sink sink = http("batch", "array")) {
            assertThatThrownBy(() -> sink.send(List.of(row(1))).block(PATIENCE))
                    .isInstanceOfSatisfying(
                            SinkException.class,
                            error -> assertThat(error.isRecoverable()).isTrue());
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).isInstanceOf(SinkException.class);
        }
    }

    @Test
    void settingsThatContradictEachOtherAreRefused() {
        assertThatThrownBy(() -> http("batch", "array", "headers.a", "${n}"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("rules.r.actions.a.batch must be single");
        assertThatThrownBy(() -> sink(new HttpSinkFactory(), message -> null, "url", "ftp://x/"))
                .isInstanceOf(ConfigurationException.class);
        assertThatThrownBy(() -> http("colour", "red", "gzip", "maybe", "body", "${"))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems()).hasSize(3));
    }
}
